//go:build !linux

package nice

// Run does work as it is: a thread alone can be raised on Linux.
func Run(work func()) { work() }

// RaiseProcess changes nothing here.
func RaiseProcess() {}
