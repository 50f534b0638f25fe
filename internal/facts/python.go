package facts

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxPyText is how much of one string is kept, maxPyStrings how many.
	maxPyText    = 4 << 10
	maxPyStrings = 1000
	// maxLevel is how deep programs may lie in shell texts in programs.
	maxLevel = 6
)

// Python reads what a Python program would do at a place, and runs none of it.
func Python(source string, at Place) Code {
	if len(source) > maxText || at.level > maxLevel || !utf8.ValidString(source) || strings.ContainsRune(source, 0) {
		return unreadCode()
	}
	tokens, err := pyTokens(source)
	if err != nil {
		return unreadCode()
	}
	body, err := parsePython(tokens)
	if err != nil {
		return unreadCode()
	}
	w := newPyWalk(at)
	w.program(body)
	return w.facts(literals(tokens, nil))
}

func unreadCode() Code {
	none := []string{}
	return Code{Language: "python", Imports: none, Calls: none, Strings: none, Variables: none, Hosts: none, Reads: none, Writes: none, Settings: none, Loses: none, Features: none}
}

func (w *pyWalk) facts(literals []string) Code {
	n := &w.notes
	command := w.shell()
	return Code{
		Language: "python", Parsed: true, Complete: n.complete,
		Imports: sorted(n.imports), Calls: sorted(n.calls), Strings: literals,
		Variables: sorted(n.variables), Hosts: sorted(n.hosts), Reads: sorted(n.reads), Writes: sorted(n.writes),
		Settings: sorted(n.settings), Loses: sorted(n.loses), Features: sorted(n.features), Command: command,
	}
}

// literals are the string literals among tokens, in their order.
func literals(tokens []pyToken, all []string) []string {
	if all == nil {
		all = []string{}
	}
	add := func(text string) {
		if text != "" && len(all) < maxPyStrings {
			all = append(all, cut(text, maxPyText))
		}
	}
	for _, t := range tokens {
		if t.kind == pyText {
			add(t.text)
		}
		for _, part := range t.parts {
			add(part.text)
			all = literals(part.tokens, all)
		}
	}
	return all
}

// shell reads the shell texts of the program, each by itself, since each runs
// in a shell of its own.
func (w *pyWalk) shell() *Command {
	if len(w.notes.pieces) == 0 {
		return nil
	}
	all := Command{Parsed: true, Complete: true, Calls: []Call{}}
	var texts []string
	for i := 0; i < len(w.notes.pieces); i++ {
		p := w.notes.pieces[i]
		p.at.level = w.at.level + 1
		c := w.shellPiece(p)
		texts = append(texts, p.text)
		all = all.and(c)
		w.runsFiles(c.Files)
	}
	all.Text = strings.Join(texts, "\n")
	w.across(&all)
	all.Assigns = sorted(append(all.Assigns, w.notes.assigns...))
	w.notes.complete = w.notes.complete && all.Complete
	return &all
}

func (w *pyWalk) shellPiece(p pyPiece) Command {
	if p.at.level > maxLevel {
		return unread(p.text)
	}
	return Shell(p.text, p.at)
}

// and is what two texts do one after the other.
func (c Command) and(o Command) Command {
	c.Parsed, c.Complete = c.Parsed && o.Parsed, c.Complete && o.Complete
	if len(c.Calls)+len(o.Calls) > maxCalls {
		c.Complete = false
	} else {
		c.Calls = append(c.Calls, o.Calls...)
	}
	c.Programs = sorted(slices.Concat(c.Programs, o.Programs))
	c.Hosts = sorted(slices.Concat(c.Hosts, o.Hosts))
	c.Reads = sorted(slices.Concat(c.Reads, o.Reads))
	c.Writes = sorted(slices.Concat(c.Writes, o.Writes))
	c.Variables = sorted(slices.Concat(c.Variables, o.Variables))
	c.Features = sorted(slices.Concat(c.Features, o.Features))
	c.Assigns = sorted(slices.Concat(c.Assigns, o.Assigns))
	c.Settings = sorted(slices.Concat(c.Settings, o.Settings))
	c.Loses = sorted(slices.Concat(c.Loses, o.Loses))
	c.Files = sorted(slices.Concat(c.Files, o.Files))
	return c
}

// across adds what only shows when the texts are read together: something
// fetched by one that another one runs.
func (w *pyWalk) across(all *Command) {
	if len(w.notes.pieces) < 2 || len(all.Text) > maxText {
		return
	}
	at := w.at
	at.level++
	for _, f := range w.shellPiece(pyPiece{all.Text, at}).Features {
		if f == FeatureDownloadAndRun || f == FeatureDecodeAndRun {
			all.Features = sorted(append(all.Features, f))
		}
	}
}

// runsFiles notes files that the program fills and then runs.
func (w *pyWalk) runsFiles(files []string) {
	for _, file := range files {
		file = w.path(file)
		if w.notes.fetched[file] {
			w.feature(FeatureDownloadAndRun)
		}
		text, ours := w.notes.contents[file]
		if !ours {
			continue
		}
		if text == nil || path.Ext(file) == ".py" && !Python(*text, w.deeper()).Complete {
			w.hide()
			continue
		}
		if path.Ext(file) != ".py" {
			w.piece(*text, w.at)
		}
	}
}

func (w *pyWalk) deeper() Place {
	at := w.at
	at.level++
	return at
}
