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
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/expand"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/loads"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/parse"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

const (
	// maxRecursion is how often a function may call itself.
	maxRecursion = 4
	// bytesPerCall and mostCallsExpected say how many calls a text is given room for at first.
	bytesPerCall      = 32
	mostCallsExpected = 63
)

// Read reads what a bash text would do at a place, and runs none of it. A Python
// program in the text is read by python.
func Read(text string, at value.Place, python func(source string, at value.Place) value.Code) value.Command {
	if len(text) > value.MaxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return value.UnreadText(text)
	}
	a := newAnalysis(at, python)
	a.Settled = at.Settled
	if !a.read(text) {
		c := value.UnreadText(text)
		c.Complete = at.Settled
		return c
	}
	return a.command(text)
}

// analysis is one reading of one text, with everything nested in it: the walk through its commands. What the text may cost, what it
// would do, and the files that it makes are apart, so that their parts know nothing of the walk.
type analysis struct {
	*state.Sink
	*overlay.FS
	call.Directory
	expand.Expander
	loads.Loader
	effects.Writer
	reader grammars.Reader
	// escapes says that the text has "echo" take backslashes for escapes.
	escapes bool
	// supposed is the reading of words that may start programs, this one of supposals many.
	supposed  *analysis
	supposals int
	// looked is what the files held that were looked through for commands.
	looked map[string]string
	// effect gathers what the call does that is being recorded; its room is used again.
	effect effects.Collector
	// wrappers are the programs around the text that is being read.
	wrappers []string

	functions map[string]*function
	// locals are those of the function that is being read, nil outside of one.
	locals *state.Locals
	// aliases are the texts that names stand for.
	aliases map[string]string
	// traps run when the text ends, with what is assigned then.
	traps []trap
}

func newAnalysis(at value.Place, python loads.Python) *analysis {
	facts := &state.Sink{Budget: &state.Budget{Complete: true}}
	a := &analysis{Sink: facts, FS: overlay.New(facts, at)}
	a.Expander, a.reader = expand.New(facts, a, at.Home), grammars.New(a.FS, a, a)
	a.Loader, a.Writer = loads.New(a.FS, &a.Directory, a, &a.reader, python), effects.NewWriter(a.FS, &a.Directory)
	return a
}

// Substitute is what commands write that a word substitutes.
func (a *analysis) Substitute(stmts []*syntax.Stmt, sc *state.Scope, in word.Stream) word.Stream {
	return a.statements(stmts, sc, in).Out
}

// Redefines says that the text has a function or an alias of a name.
func (a *analysis) Redefines(program string) bool {
	return a.functions[program] != nil || a.aliases[program] != ""
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
	code     word.Word
	wrappers []string
}

// read walks the whole text; it is false for a text that cannot be read.
func (a *analysis) read(text string) (ok bool) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case state.TooDeep:
			ok = false
		default:
			panic(cause)
		}
	}()
	stmts, err := parse.Statements(text, state.MaxSteps)
	if err != nil {
		return false
	}
	a.Calls = make([]state.Record, 0, 1+min(len(text)/bytesPerCall, mostCallsExpected))
	sc := a.NewScope(a.At.Workdir, a.At.Astray)
	a.statements(stmts, sc, word.Stream{})
	for _, t := range a.traps {
		a.readText(t.code, sc.Fork(), t.wrappers, word.Stream{})
	}
	a.readUncalled(sc)
	return true
}

// readUncalled reads the functions that nothing called: a caller may be hidden.
func (a *analysis) readUncalled(sc *state.Scope) {
	for _, name := range slices.Sorted(maps.Keys(a.functions)) {
		if f := a.functions[name]; !f.called {
			a.readFunction(f, sc)
		}
	}
}

func (a *analysis) readFunction(f *function, sc *state.Scope) {
	idle := a.Idle
	a.Idle, f.called = true, true
	f.active++
	inner := sc.Fork()
	inner.Args, inner.ArgsKnown = nil, false
	a.statement(f.body, inner, word.Stream{})
	f.active--
	a.Idle = idle
}

func (a *analysis) command(text string) value.Command {
	a.RunSources()
	calls := state.DistinctCalls(a.Calls)
	return value.Command{
		Supposed: a.sideFacts(),
		Text:     text, Parsed: true, Complete: a.Complete,
		Programs: state.Programs(calls), Calls: calls,
		Hosts: value.Sorted(a.Hosts), Reads: value.Sorted(a.Reads), Writes: value.Sorted(a.Writes),
		Variables: value.Sorted(a.Variables), Features: value.Sorted(a.Features),
		Assigns: value.Sorted(a.Assigns), Settings: value.Sorted(a.Settings), Loses: value.Sorted(a.Loses), Files: value.Sorted(a.Files),
		Made: value.Sorted(a.Made), Sources: value.Sorted(a.Sources),
		Opens: a.Dependencies(), Code: a.Code, Origins: append(a.FS.Origins(), a.Given...), Modules: value.Sorted(a.Modules),
	}
}
