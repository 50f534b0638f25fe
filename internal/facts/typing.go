package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// TypedText reads a text that is handed to a running process. It is complete only if a
// command started that process which is a shell and nothing else, and if that shell
// stands afterwards where it stood, reads on where the text ended, and no other program
// does. So a text that is complete, after others that were, means what it says.
func TypedText(text, reader string, at Place) Command {
	c := Shell(text, at)
	c.Complete = opensShell(reader) && leavesShell(c)
	return c
}

// leavesShell says that all that a text calls neither reads input nor writes anything,
// which could be the input of the shell under another name.
func leavesShell(c Command) bool {
	return Plain(c) && len(c.Features) == 0 && !slices.ContainsFunc(c.Calls,
		func(call Call) bool { return !programs.Of(call.Program).Inert })
}

// opensShell says whether a shell text starts a shell that runs what it reads on its
// standard input, and nothing else. What is typed to anything else (a program that
// waits for an answer, an interpreter of another language) is no shell text, whatever
// it looks like.
func opensShell(text string) bool {
	c := Shell(text, Place{})
	if !c.Parsed || len(c.Calls) != 1 || len(c.Settings) > 0 || len(c.Assigns) > 0 || len(c.Variables) > 0 || len(c.Reads) > 0 {
		return false
	}
	call := c.Calls[0]
	return isPlainShell(call.Argv[0]) && len(call.Operands) == 0 && !takesText(call.Argv[1:])
}

// isPlainShell is false for shells that read files of their own before anything, and
// for those that have a syntax of their own.
func isPlainShell(program string) bool {
	switch folder, name := path.Split(program); folder {
	case "", "/bin/", "/usr/bin/":
		return name == "sh" || name == "bash" || name == "dash"
	}
	return false
}

// takesText says whether a shell is given options by which its commands come from
// elsewhere too (an interactive one reads files, and repeats what it read before), or
// which may be such.
func takesText(options []string) bool {
	for _, o := range options {
		plain := strings.HasPrefix(o, "-") && strings.Trim(o[1:], "esux") == ""
		if !plain && o != "--norc" && o != "--noprofile" && o != "--posix" {
			return true
		}
	}
	return false
}
