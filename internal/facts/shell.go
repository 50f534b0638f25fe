package facts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Place is where a text would run. An empty field is unknown: relative paths
// then stay relative.
type Place struct {
	Workdir string
	// Home lets an absolute home path be written "~".
	Home string
	// astray says that an empty Workdir is not where the request starts.
	astray bool
	// level counts the programs that the text lies in.
	level int
}

// What one text may cost. Whoever runs into a limit gets Complete false.
const (
	maxText    = 1 << 20
	maxSteps   = 200_000
	maxCalls   = 4096
	maxNesting = 200
	maxValue   = 64 << 10
	maxFields  = 4096
	// maxOperated is how long a value may be for ${x%…} and its like.
	maxOperated  = 1024
	maxVariables = 1000
	maxTexts     = 2 << 20
	maxURLs      = 100
	maxPath      = 4096
	maxRecursion = 4
)

// Shell reads what a bash text would do at a place, and runs none of it.
func Shell(text string, at Place) Command {
	if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return unread(text)
	}
	a := &analysis{at: at, complete: true}
	if !a.read(text) {
		return unread(text)
	}
	return a.command(text)
}

// unread is all that is known of a text that is not shell.
func unread(text string) Command {
	none := []string{}
	return Command{Text: text, Programs: none, Calls: []Call{}, Hosts: none, Reads: none, Writes: none,
		Variables: none, Features: none, Assigns: none, Settings: none, Loses: none, Files: none}
}

// analysis is one reading of one text, with everything nested in it.
type analysis struct {
	at       Place
	complete bool
	calls    []made
	// wrappers are the programs around the text that is being read.
	wrappers []string

	hosts, reads, writes, variables, features, assigns, settings, loses, files []string

	functions map[string]*function
	// aliases are the texts that names stand for.
	aliases map[string]string
	// traps run when the text ends, with what is assigned then.
	traps []trap
	// contents are the files that the text itself writes, by path.
	contents map[string]stream
	// transfers are what gets its content from files, by its path.
	transfers map[string][]transfer
	// piped is the first call of the pipes around what is being read.
	piped int
	// unpacked are the folders that hold what came from the network.
	unpacked []unpacked
	// steps, depth and texts are what was spent of the limits.
	steps, depth, texts int
	// aside counts the pipes and background jobs around what is being read.
	aside int
	// feed is where the input of the command being expanded comes from: what
	// ">(…)" gets is at best that.
	feed taint
	// idle is set while a function is read that nobody called: what it hides
	// does not count.
	idle bool
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

// tooDeep ends a reading whose text nests deeper than anyone writes. Every other
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
	stmts, err := parse(text, maxSteps)
	if err != nil {
		return false
	}
	sc := &scope{cwd: a.at.Workdir, astray: a.at.astray, argsKnown: true, steps: &a.steps}
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

func (a *analysis) command(text string) Command {
	a.runsSources()
	calls := distinct(a.calls)
	return Command{
		Text: text, Parsed: true, Complete: a.complete,
		Programs: programsOf(calls), Calls: calls,
		Hosts: sorted(a.hosts), Reads: sorted(a.reads), Writes: sorted(a.writes),
		Variables: sorted(a.variables), Features: sorted(a.features),
		Assigns: sorted(a.assigns), Settings: sorted(a.settings), Loses: sorted(a.loses), Files: sorted(a.files),
	}
}

// hide notes that the text does not tell what will run.
func (a *analysis) hide() {
	if !a.idle {
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
	if a.steps > maxSteps {
		a.complete = false
		return false
	}
	return true
}

// enter counts nesting; the returned function leaves again.
func (a *analysis) enter() func() {
	if a.depth++; a.depth > maxNesting {
		panic(tooDeep{})
	}
	return func() { a.depth-- }
}
