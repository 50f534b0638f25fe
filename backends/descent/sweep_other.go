//go:build !linux

package descent

import "context"

// Sweep does nothing: marked processes are made on Linux only.
func Sweep(context.Context) error { return nil }
