//go:build !linux

package nested

import "errors"

// Take is for sandboxes of Linux alone.
func (p Place) Take(int, string) (string, error) { return "", errors.ErrUnsupported }
