// Bailiff-host is the small static program that makes sandboxes on a host which a
// sidecar reaches by ssh. The sidecar brings it there, starts it for each question
// and asks over its standard input; a sandbox's runner then speaks over the same
// session, and this program stays until the sandbox has ended. No other program starts it.
package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends/ssh/inside"
)

func main() {
	syscall.Umask(0o022) // folders on the way to workspaces are passed by their user
	if err := inside.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bailiff-host:", err)
		os.Exit(125)
	}
}
