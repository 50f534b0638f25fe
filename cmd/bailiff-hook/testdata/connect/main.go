// Connect is the least that a hook could be: a program that starts and connects.
package main

import (
	"net"
	"os"
)

func main() {
	c, err := net.Dial("unix", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	_ = c.Close()
}
