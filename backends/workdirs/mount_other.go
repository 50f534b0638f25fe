//go:build !linux

package workdirs

import "errors"

func mountAlone(string, string) error { return errors.New("only Linux can mount a disk for a sandbox") }
