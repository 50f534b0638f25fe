//go:build !linux

// Bailiff-runner runs commands inside a sandbox; it needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bailiff-runner: this system cannot hold sandboxes; build it with GOOS=linux, it runs inside them")
	os.Exit(125)
}
