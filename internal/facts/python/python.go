// Package python reads what a Python program would do, and runs none of it.
//
// What is promised: the program is parsed and walked in the order of its text until
// nothing more is learnt of what its names hold. Calls that start programs, and those that
// read, write, connect or decode, become facts. Reading takes bounded time and memory. A
// program that hides what it runs is not complete.
//
// Not here: what a shell text does (that is read by the function that the caller gives),
// the modules of a project, and values that only a run would tell.
package python

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

const (
	// maxText is how much of one string literal is kept, in bytes, maxStrings how many.
	maxText    = 4 << 10
	maxStrings = 1000
)

// Read reads what a Python program would do at a place, and runs none of it. The
// shell texts that it runs are read by shell.
func Read(source string, at value.Place, shell func(text string, at value.Place) value.Command) value.Code {
	if len(source) > value.MaxText || at.Level > value.MaxLevel || !utf8.ValidString(source) || strings.ContainsRune(source, 0) ||
		!syntax.ReadsAsItStands(source) {
		return unreadCode()
	}
	program, err := syntax.Parse(source)
	if err != nil {
		c := unreadCode()
		c.Parsed = at.Fresh && errors.Is(err, syntax.ErrRefused) // nothing of it runs in an interpreter that is given all of it
		c.Complete = c.Parsed
		return c
	}
	w := newWalk(at, shell)
	body := program.Body
	if at.Earlier != nil && at.Level == 0 {
		body = slices.Concat(syntax.Statements(*at.Earlier), body)
	}
	w.program(body)
	return w.facts(program.Literals(maxStrings, maxText))
}

func unreadCode() value.Code {
	none := []string{}
	return value.Code{Language: "python", Imports: none, Calls: none, Strings: none, Variables: none, Hosts: none, Reads: none,
		Writes: none, Touches: none, Settings: none, Loses: none, Features: none}
}

func (w *walk) facts(literals []string) value.Code {
	n := &w.notes
	command := w.shell()
	n.complete = n.complete && !slices.ContainsFunc(n.folders, func(dir string) bool { return n.unpacked.HoldModules(w.path(dir)) })
	if w.toThisHost() {
		n.features = slices.DeleteFunc(n.features, func(f string) bool { return f == value.FeatureSendsFiles })
	}
	return value.Code{
		Language: "python", Parsed: true, Complete: n.complete,
		Imports: value.Sorted(n.imports), Calls: value.Sorted(n.calls), Strings: literals,
		Variables: value.Sorted(n.variables), Hosts: value.Sorted(n.hosts), Reads: value.Sorted(n.reads), Writes: value.Sorted(n.writes),
		Touches:  value.Sorted(n.touches),
		Settings: value.Sorted(n.settings), Loses: value.Sorted(n.loses), Features: value.Sorted(n.features), Command: command,
		Folders: n.folders, Members: value.Sorted(n.members), Loads: value.Sorted(n.loads),
		Origins: slices.Concat(value.OriginsOf(n.fetched, n.decoded), n.unpacked.Origins(value.Sorted(n.reads), value.Sorted(n.writes))),
	}
}

// toThisHost says that the program names hosts, and that each is the one it runs on.
func (w *walk) toThisHost() bool {
	return len(w.notes.hosts) > 0 && !slices.ContainsFunc(w.notes.hosts, func(h string) bool {
		return h != "localhost" && h != "127.0.0.1" && h != "::1"
	})
}

// shell reads the shell texts of the program, each by itself, since each runs
// in a shell of its own.
func (w *walk) shell() *value.Command {
	supposed := w.supposition()
	if len(w.notes.pieces) == 0 && supposed == nil {
		return nil
	}
	all := value.Command{Parsed: true, Complete: true, Calls: []value.Call{}, Supposed: supposed}
	var texts []string
	for i := 0; i < len(w.notes.pieces); i++ {
		p := w.notes.pieces[i]
		p.at.Level = w.at.Level + 1
		c := w.shellPiece(p)
		texts = append(texts, p.text)
		all = all.And(c)
		w.runsFiles(c.Files, i)
	}
	all.Text = strings.Join(texts, "\n")
	w.across(&all)
	all.Assigns = value.Sorted(append(all.Assigns, w.notes.assigns...))
	w.notes.complete = w.notes.complete && all.Complete
	return &all
}

func (w *walk) shellPiece(p piece) value.Command {
	if p.at.Level > value.MaxLevel {
		return value.UnreadText(p.text)
	}
	return w.readShell(p.text, p.at)
}

// across adds what only shows when the texts are read together: something
// fetched by one that another one runs.
func (w *walk) across(all *value.Command) {
	if len(w.notes.pieces) < 2 || len(all.Text) > value.MaxText {
		return
	}
	at := w.at
	at.Level++
	for _, f := range w.shellPiece(piece{all.Text, at}).Features {
		if f == value.FeatureDownloadAndRun || f == value.FeatureDecodeAndRun {
			all.Features = value.Sorted(append(all.Features, f))
		}
	}
}

// runsFiles notes files that the program fills, or unpacks, and then runs after so many commands.
func (w *walk) runsFiles(files []string, commands int) {
	for _, file := range files {
		file = w.path(file)
		w.notes.complete = w.notes.complete && !w.notes.unpacked.Hold(file, commands)
		if _, folder := w.notes.contents[file+"/__main__.py"]; folder {
			file += "/__main__.py"
		}
		if w.notes.fetched[file] {
			w.feature(value.FeatureDownloadAndRun)
		}
		if w.notes.decoded[file] {
			w.feature(value.FeatureDecodeAndRun)
		}
		text, ours := w.notes.contents[file]
		if !ours {
			continue
		}
		switch {
		case text == nil:
			w.hide()
		case path.Ext(file) == ".py":
			w.runsProgram(Read(*text, w.deeper(), w.readShell))
		default:
			w.piece(*text, w.at)
		}
	}
}

// runsProgram notes what another program does.
func (w *walk) runsProgram(c value.Code) {
	n := &w.notes
	for _, more := range []struct {
		list *[]string
		from []string
	}{{&n.imports, c.Imports}, {&n.calls, c.Calls}, {&n.variables, c.Variables}, {&n.hosts, c.Hosts}, {&n.reads, c.Reads},
		{&n.writes, c.Writes}, {&n.touches, c.Touches}, {&n.settings, c.Settings}, {&n.loses, c.Loses}, {&n.features, c.Features}} {
		w.note(more.list, more.from...)
	}
	if c.Command != nil {
		w.piece(c.Command.Text, w.at)
		w.supposeAlike(c.Command.Supposed)
	}
	if !c.Complete {
		w.hide()
	}
}

func (w *walk) deeper() value.Place {
	at := w.at
	at.Level++
	return at
}
