package facts

import (
	"path"
	"strings"
)

// OpensShell says whether a shell text starts a shell that runs what it reads on its
// standard input, and nothing else. What is typed to anything else (a program that
// waits for an answer, an interpreter of another language) is no shell text, whatever
// it looks like.
func OpensShell(text string) bool {
	c := Shell(text, Place{})
	if !c.Parsed || len(c.Calls) != 1 || len(c.Settings) > 0 || len(c.Assigns) > 0 || len(c.Variables) > 0 || len(c.Reads) > 0 {
		return false
	}
	call := c.Calls[0]
	return isPOSIXShell(call.Argv[0]) && len(call.Operands) == 0 && !takesText(call.Argv[1:])
}

func isPOSIXShell(program string) bool {
	switch folder, name := path.Split(program); folder {
	case "", "/bin/", "/usr/bin/":
		return shells[name] && name != "fish" // which has a syntax of its own
	}
	return false
}

// takesText says whether a shell is given options by which its commands come from
// elsewhere, or which may be such.
func takesText(options []string) bool {
	for _, o := range options {
		plain := strings.HasPrefix(o, "-") && strings.Trim(o[1:], "eilsux") == ""
		if !plain && o != "--login" && o != "--norc" && o != "--noprofile" && o != "--posix" {
			return true
		}
	}
	return false
}
