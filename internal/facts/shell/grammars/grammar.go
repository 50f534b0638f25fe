// Package grammars says of some programs what only code can say: how they read their words, what they start, and which files they
// read and write. Each lies in the file of its name, and a table names them all.
//
// A grammar gets the words of one call. What it starts it hands back by two small interfaces, Starter and Interpreter; files are
// those of the overlay. What is promised: what a grammar does not understand is hidden, so that the text is not complete.
//
// Not here: programs of which an entry tells all, and the walk through what is started.
package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Grammar is what only Go can say of a program: each lies in the file of its name.
type Grammar struct {
	// Arguments reads the arguments of a call.
	Arguments func(words []word.Word, p *programs.Program) *call.Arguments
	// Runs does what a call runs; it is false for a call that runs nothing.
	Runs func(r *Reader, name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool)
	// Files notes the files of a project that a call runs.
	Files func(r *Reader, name string, inv *call.Invocation, args *call.Arguments)
	// Effects notes the files and hosts that a call names.
	Effects func(e *effects.Collector, name string)
}

// Of is the grammar that the entry of a program names.
func Of(name string) Grammar { return grammars[name] }

// Arguments are the words of a call as its program reads them.
func Arguments(e *programs.Entry, words []word.Word) *call.Arguments {
	if reads := Of(e.Own.Grammar).Arguments; reads != nil {
		return reads(words, e.Described)
	}
	return call.ParseArguments(words, e.Described)
}

var grammars = map[string]Grammar{
	"awk":            {Runs: (*Reader).awk, Effects: awkEffects},
	"cmake":          {Runs: (*Reader).cmake},
	"command":        {Runs: (*Reader).command},
	"cpio":           {Effects: cpioEffects},
	"curl":           {Effects: downloadEffects},
	"dd":             {Effects: ddEffects},
	"dig":            {Effects: digEffects},
	"docker":         {Arguments: dockerArguments, Runs: (*Reader).container, Files: (*Reader).compose, Effects: mountsEffects},
	"docker-compose": {Files: (*Reader).dockerCompose},
	"dpkg":           {Effects: dpkgEffects},
	"env":            {Runs: (*Reader).env},
	"exec":           {Runs: (*Reader).exec},
	"fd":             {Runs: (*Reader).find},
	"find":           {Runs: (*Reader).find, Effects: findEffects},
	"flock":          {Runs: (*Reader).flock},
	"git":            {Arguments: gitArguments, Runs: (*Reader).git, Effects: gitEffects},
	"httpie":         {Effects: httpieEffects},
	"kubectl":        {Runs: (*Reader).cluster},
	"make":           {Files: (*Reader).makefiles},
	"mosh":           {Effects: sshEffects},
	"netcat":         {Runs: (*Reader).netcat},
	"ninja":          {Files: (*Reader).ninja},
	"nix-shell":      {Runs: (*Reader).nixShell},
	"parallel":       {Runs: (*Reader).parallel},
	"perl":           {Effects: perlEffects},
	"screen":         {Runs: (*Reader).screen},
	"script":         {Runs: (*Reader).scriptOf},
	"sed":            {Arguments: sedArguments, Runs: (*Reader).sed, Effects: sedEffects},
	"socat":          {Runs: (*Reader).socat, Effects: socatEffects},
	"source":         {Effects: sourceEffects},
	"ssh":            {Runs: (*Reader).ssh, Effects: sshEffects},
	"ssh-keygen":     {Effects: sshKeygenEffects},
	"su":             {Runs: (*Reader).su},
	"tar":            {Arguments: tarArguments, Runs: (*Reader).tar, Effects: tarEffects},
	"tmux":           {Runs: (*Reader).tmux},
	"type":           {Runs: (*Reader).typeOf},
	"unzip":          {Runs: (*Reader).unzip, Effects: unzipEffects},
	"vim":            {Runs: (*Reader).vim},
	"watch":          {Runs: (*Reader).watch},
	"wget":           {Effects: downloadEffects},
	"which":          {Runs: (*Reader).which},
	"xargs":          {Runs: (*Reader).xargs},
}

// Reader reads the calls of programs that have a grammar of their own.
type Reader struct {
	*overlay.FS
	Starter
	Interpreter
	// Projects are the makefiles and the scripts of projects that are being read.
	Projects []string
}

// Starter reads what a program starts.
type Starter interface {
	// Text reads shell text.
	Text(name string, inv *call.Invocation, code word.Word, sc *state.Scope) call.Result
	// Inner reads the words of another call.
	Inner(name string, inv *call.Invocation, argv []word.Word) call.Result
	// Input reads shell text that arrives on standard input.
	Input(name string, inv *call.Invocation, sc *state.Scope) call.Result
}

// Interpreter reads what a program takes for more than words.
type Interpreter interface {
	// ProgramFile reads the file that an option or a variable names for a program to run.
	ProgramFile(name string, file word.Word, inv *call.Invocation)
	// Commands reads a program in a language of its own.
	Commands(name string, p *programs.Program, inv *call.Invocation, s word.Stream)
	// Assignments reads the assignments before a command; they are no part of the rest.
	Assignments(words []word.Word, inv *call.Invocation) (rest []word.Word, assigns []string)
}

// New reads calls on a file system; what they start goes to the two interfaces.
func New(fs *overlay.FS, starts Starter, interprets Interpreter) Reader {
	return Reader{FS: fs, Starter: starts, Interpreter: interprets}
}
