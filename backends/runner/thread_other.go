//go:build !linux

package runner

func onMainThread() bool { return false }
