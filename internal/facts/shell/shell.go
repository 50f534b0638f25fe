// Package shell reads what a bash text would do, and runs none of it.
//
// What is promised: each simple command becomes calls, seen through assignments,
// expansions, pipes, redirections, functions, wrappers and nested shells. Reading takes
// bounded time and memory. A text that hides what it runs is not complete.
//
// Not here: what other languages do (a Python program in the text is read by the function
// that the caller gives), and what a call means to policies.
package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// What one text may cost. A text that runs into a limit is not complete.
const (
	MaxSteps   = 200_000
	MaxNesting = 200
	maxFields  = 4096
	// maxOperated is how long a value may be for ${x%…} and its like.
	maxOperated  = 1024
	maxVariables = 1000
	// maxItems is how many names a word may stand for.
	maxItems = 256
	// maxValue is how long a word and a stream may be: what a text spells out fits in.
	maxValue     = value.MaxText
	maxTexts     = 2 << 20
	maxPath      = 4096
	maxRecursion = 4
	// bytesPerCall and mostCallsExpected say how many calls a text is given room for at first.
	bytesPerCall      = 32
	mostCallsExpected = 63
)

// Read reads what a bash text would do at a place, and runs none of it. A Python
// program in the text is read by python.
func Read(text string, at value.Place, python func(source string, at value.Place) value.Code) value.Command {
	if len(text) > value.MaxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return value.Unread(text)
	}
	a := &analysis{at: at, readPython: python, complete: true, settled: at.Settled}
	if !a.read(text) {
		c := value.Unread(text)
		c.Complete = at.Settled
		return c
	}
	return a.command(text)
}

// analysis is one reading of one text, with everything nested in it.
type analysis struct {
	at value.Place
	// readPython reads the Python programs in the text.
	readPython func(source string, at value.Place) value.Code
	complete   bool
	// idle is set while a function is read that no text called: what it hides does not count.
	// settled says that a settled file is being read, late that a started file is.
	idle, settled, late bool
	// globs are the options that the text sets for wildcards.
	globs value.Globs
	// escapes says that the text has "echo" take backslashes for escapes.
	escapes bool
	// feed is where the input of the command being expanded comes from: what ">(…)" gets is
	// at best that.
	feed  value.Taint
	calls []made
	// supposed is the reading of words that may start programs; supposes says that
	// this is such a reading, of supposals many.
	supposed *analysis
	// code is what the Python programs in the text would do, nil if there is none that tells.
	code      *value.Code
	supposes  bool
	supposals int
	// effect gathers what the call does that is being recorded; its room is used again.
	effect effect
	// entry is the program that was asked about last.
	entry *programs.Entry
	// wrappers are the programs around the text that is being read.
	wrappers []string

	hosts, reads, writes, variables, features, assigns, settings, loses, files []string
	// opened are files that the text reads, sought those in which programs look for code.
	opened, sought []string

	functions map[string]*function
	// locals are those of the function that is being read, nil outside of one.
	locals *locals
	// aliases are the texts that names stand for.
	aliases map[string]string
	// traps run when the text ends, with what is assigned then.
	traps []trap
	// contents are the files that the text itself writes, by path.
	contents map[string]stream
	// links are those that the text makes, and what they lead to.
	links map[string]string
	// started are files that run while the text goes on.
	started []started
	// imported are the files in which modules were looked for, importedTexts those whose text the text itself wrote.
	imported, importedTexts []string
	// rounds counts the loops around what is being read.
	rounds int
	// making are the makefiles and the scripts of projects that are being read.
	making []string
	// built are the programs that are compiled of what the text wrote, by their paths; "" stands for one whose name is not told.
	built []string
	// transfers are what gets its content from files, by its path.
	transfers map[string][]transfer
	// piped is the first call of the pipes around what is being read.
	piped int
	// unpacked are the folders that hold what came from the network.
	unpacked []unpacked
	// steps, depth, texts and given are what was spent of the limits.
	steps, depth, texts, given int
	// fresh counts the folders that the text has made under names of their own.
	fresh int
	// aside counts the pipes and background jobs around what is being read.
	aside int
	// madeBy counts the files through which the one that is looked at is made of others.
	madeBy int
	// seeking are the programs of the text's own PATH that are being read.
	seeking []string
	// within are the files that are being read, see [analysis.foundIn].
	within []string
	// modulePath are the folders in which the Python program of a file that is being read looks for modules first, none where
	// that is the working folder; inModule says that one of its modules is being read.
	modulePath []string
	inModule   bool
}

// function is a shell function's body; called tells whether it was read already.
type function struct {
	body   *syntax.Stmt
	called bool
	active int
	// aside is how many pipes and background jobs were around its entry.
	aside int
}

type trap struct {
	code     word
	wrappers []string
}

// tooDeep ends a reading whose text nests deeper than any that is written. Every other
// panic is a fault of this package, which the caller has to answer for.
type tooDeep struct{}

// read walks the whole text; it is false for a text that cannot be read.
func (a *analysis) read(text string) (ok bool) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case tooDeep:
			ok = false
		default:
			panic(cause)
		}
	}()
	stmts, err := parse(text, MaxSteps)
	if err != nil {
		return false
	}
	a.calls = make([]made, 0, 1+min(len(text)/bytesPerCall, mostCallsExpected))
	sc := &scope{cwd: a.at.Workdir, astray: a.at.Astray, argsKnown: true, steps: &a.steps}
	a.statements(stmts, sc, stream{})
	for _, t := range a.traps {
		a.nested(t.code, sc.fork(), t.wrappers, stream{})
	}
	a.remaining(sc)
	return true
}

// remaining reads the functions that nothing called: a caller may be hidden.
func (a *analysis) remaining(sc *scope) {
	for _, name := range sortedKeys(a.functions) {
		if f := a.functions[name]; !f.called {
			a.uncalled(f, sc)
		}
	}
}

func (a *analysis) uncalled(f *function, sc *scope) {
	idle := a.idle
	a.idle, f.called = true, true
	f.active++
	inner := sc.fork()
	inner.args, inner.argsKnown = nil, false
	a.statement(f.body, inner, stream{})
	f.active--
	a.idle = idle
}

func (a *analysis) command(text string) value.Command {
	a.runsSources()
	calls := distinct(a.calls)
	return value.Command{
		Supposed: a.supposition(),
		Text:     text, Parsed: true, Complete: a.complete,
		Programs: programsOf(calls), Calls: calls,
		Hosts: value.Sorted(a.hosts), Reads: value.Sorted(a.reads), Writes: value.Sorted(a.writes),
		Variables: value.Sorted(a.variables), Features: value.Sorted(a.features),
		Assigns: value.Sorted(a.assigns), Settings: value.Sorted(a.settings), Loses: value.Sorted(a.loses), Files: value.Sorted(a.files),
		Opens: a.depends(), Code: a.code,
	}
}

// hide notes that the text does not tell what will run.
func (a *analysis) hide() {
	if !a.idle && !a.settled {
		a.complete = false
	}
}

func (a *analysis) feature(name string) {
	if !slices.Contains(a.features, name) {
		a.features = append(a.features, name)
	}
}

// spend counts work; it is false when the text has had its share.
func (a *analysis) spend(n int) bool {
	a.steps += n
	if a.steps > MaxSteps {
		a.complete = false
		return false
	}
	return true
}

// enter counts nesting; the returned function leaves again.
func (a *analysis) enter() func() {
	if a.depth++; a.depth > MaxNesting {
		panic(tooDeep{})
	}
	return func() { a.depth-- }
}
