// Package loads reads what a call runs beside what its words say: programs in other languages, in the text or in files; what they
// import; the files of tests, of projects and of settings that programs find by themselves; and the programs that options and the
// standard input hold.
//
// What programs start it hands back by the interface Walk. What is promised: a file that is not known and that the session may have
// made hides what runs; each module is read once.
//
// Not here: Python itself (the caller gives its reader), and which files are there (package overlay).
package loads

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Python reads a Python program at a place.
type Python func(source string, at value.Place) value.Code

// Loader reads what a call runs beside what its words say: programs in other languages, and what they load; files of tests, of
// projects and of settings; the programs that options, variables and the standard input hold.
type Loader struct {
	*overlay.FS
	*call.Directory
	Walk
	reader *grammars.Reader
	// ReadPython reads the Python programs in the text.
	ReadPython Python
	// Supposes says that what is read is only supposed to run.
	Supposes bool
	// imported are the files in which modules were looked for, importedTexts those whose text the text itself wrote.
	imported, importedTexts []string
	// seeking are the programs of the text's own PATH that are being read.
	seeking []string
	// modulePath are the folders in which the Python program of a file that is being read looks for modules first, none where
	// that is the working folder; inModule says that one of its modules is being read.
	modulePath []string
	inModule   bool
}

// Walk reads what a program starts.
type Walk interface {
	// Text reads shell text.
	Text(name string, inv *call.Invocation, code word.Word, sc *state.Scope) call.Result
	// Inner reads the words of another call.
	Inner(name string, inv *call.Invocation, argv []word.Word) call.Result
	// Invoke reads a call.
	Invoke(inv call.Invocation) call.Result
	// Record notes a call, and what it reads and writes.
	Record(inv *call.Invocation, name string, args *call.Arguments)
	// Suppose notes what another reading supposed to run.
	Suppose(c *value.Command, wrappers []string)
	// SupposeCall reads words as a call that may be made.
	SupposeCall(name string, inv *call.Invocation, argv []word.Word)
}

// New reads what calls on a file system run; what they start goes to the walk around it.
func New(fs *overlay.FS, d *call.Directory, around Walk, reader *grammars.Reader, python Python) Loader {
	return Loader{FS: fs, Directory: d, Walk: around, reader: reader, ReadPython: python}
}
