// Package facts reads what a request's text would do, without running any of it:
// shell text becomes a [Command] (input.command), Python becomes a [Code]
// (input.code). The policies reason over these facts, never over the raw text.
//
// What is promised: quoting, assignments, "cd", wrappers, nested shells, pipes,
// substitutions, here-documents and functions are seen through as far as the
// text itself tells; wherever it does not tell, Complete is false and the
// policies can ask instead of guess. Text that merely mentions a command (in
// quotes, in an echo, in a here-document that no interpreter reads) is not a
// call of it. Any text of up to 1 MiB is read in bounded time and memory.
//
// Nothing is looked up: no file is read, no host resolved, no variable taken from
// this process. Which links stand where the text runs, the caller tells by a [Ground].
// A variable that the text does not assign is unknown, except for
// HOME, PWD and SHELL; "${X:-word}" of such a one is taken as the word. Where
// branches leave a variable or the working directory in different states, it is
// unknown after them. What a loop or a condition guards counts as done.
//
// Paths are cleaned and made absolute against the working directory where that
// is known. The home folder is written "~" ("~/.ssh/id_rsa"), however the text
// spelt it ($HOME, ${HOME}, ~). A pattern keeps its wildcard characters.
package facts

import (
	"github.com/bailiff-dev/bailiff/internal/facts/python"
	"github.com/bailiff-dev/bailiff/internal/facts/shell"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// What a text would do, and where it would run.
type (
	Command = value.Command
	Call    = value.Call
	Code    = value.Code
	Place   = value.Place
	Content = value.Content
	// Contents are files by their paths.
	Contents = value.Contents
	// Ground is the file system below a text.
	Ground = value.Ground
)

// FeatureHeredoc is a here-document; the other features are in package value.
const FeatureHeredoc = value.FeatureHeredoc

// Shell reads what a bash text would do at a place, and runs none of it.
func Shell(text string, at Place) Command { return shell.Read(text, at, Python) }

// Python reads what a Python program would do at a place, and runs none of it.
//
// Modules that the program imports are read where their text is among the contents, for it is that of the request's own
// program; one in a shell text finds its modules by itself.
func Python(source string, at Place) Code {
	c := python.Read(source, at, Shell)
	if at.Level > 0 || !c.Parsed {
		return c
	}
	beside, some := shell.Modules(c.Imports, c.Folders, at, Python)
	switch {
	case !some:
		return c
	case c.Command != nil:
		beside = c.Command.And(beside)
	}
	c.Command, c.Complete = &beside, c.Complete && beside.Complete
	return c
}
