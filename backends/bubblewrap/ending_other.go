//go:build !linux

package bubblewrap

import "syscall"

func endingWithThread() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
