package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// takes reads what a program takes its standard input, and the files and texts that its
// options name, for: commands of its own, names of files, a patch.
func (a *analysis) takes(name string, inv *call.Invocation, args *call.Arguments) {
	p := a.about(name).Own
	for _, s := range a.programTexts(p, inv, args) {
		a.ReadIn(s, func() { a.Commands(name, p, inv, s) })
	}
	for _, o := range args.Options {
		if p.Options[o.Name] == programs.FileOfNames {
			s, _ := a.PseudoFile(o.Value, inv.In, inv.Scope)
			a.namesToRead(inv, s)
			if p.Output == programs.Report { // which says what stands in a list that names no file
				e := effects.New(a.FS, inv.Scope)
				e.Read(o.Value)
				a.Reads = append(a.Reads, e.Reads...)
			}
		}
	}
	if p.Input == "" || !takesInput(p, args) {
		return
	}
	switch p.Input {
	case programs.NamesToRead:
		a.namesToRead(inv, inv.In)
	case programs.Patch:
		a.reader.Patch(name, inv, args)
	default:
		a.ReadIn(inv.In, func() { a.Commands(name, p, inv, inv.In) })
	}
}

// takesInput says whether a call takes its standard input for what the grammar says.
func takesInput(p *programs.Program, args *call.Arguments) bool {
	if len(p.When) == 0 {
		return true
	}
	return slices.ContainsFunc(p.When, func(when string) bool {
		switch when {
		case "alone":
			return len(args.Operands) == 0
		case "dash":
			return slices.ContainsFunc(args.All, func(w word.Word) bool { return w.Text == "-" })
		}
		return args.Has(when) || word.First(args.Operands).Text == when
	})
}

// programTexts are the programs that options and operands of a call spell out.
func (a *analysis) programTexts(p *programs.Program, inv *call.Invocation, args *call.Arguments) []word.Stream {
	var out []word.Stream
	for _, o := range args.Options {
		text := slices.Contains(p.Texts, o.Name)
		file := slices.Contains(p.Runs, o.Name) && p.Grammar == "" || text && p.Options[o.Name] == programs.FileRead
		if text && !file {
			out = append(out, word.Stream{Present: true, Text: o.Value.Text, Known: true, Taint: o.Value.Taint})
		}
		if file {
			if s, ok := a.ProgramIn(o.Value, inv.In, inv.Scope); ok {
				out = append(out, s)
			}
		}
	}
	if slices.Contains(p.Texts, "operands") {
		for _, w := range word.After(args.Operands, 1) {
			out = append(out, word.Stream{Present: true, Text: w.Text, Known: true, Taint: w.Taint})
		}
	}
	return out
}

// Commands reads a program in a language of its own as far as it starts others.
func (a *analysis) Commands(name string, p *programs.Program, inv *call.Invocation, s word.Stream) {
	if !s.Present || s.Known && strings.TrimSpace(s.Text) == "" {
		return
	}
	if p.Input != programs.Commands {
		a.Run(s.Path, s.File)
	}
	switch {
	case s.IsElsewhere() || s.Known && p.Plain.All(s.Text):
	case (!s.Known || p.Escapes.Regexp == nil) && p.Input != programs.Commands:
		a.NoteRun(s.Taint)
		a.Hide()
	case s.Known && p.Escapes.Regexp != nil:
		for _, found := range p.Escapes.FindAllStringSubmatch(s.Text, -1) {
			fed := *inv
			fed.In = word.Stream{}
			a.Text(name, &fed, word.Word{Text: unpaired(found[1]), Known: true, Taint: s.Taint}, inv.Scope.Fork())
		}
	}
	a.namedFiles(p, inv, s)
	a.runsMore(name, p, inv, s)
	if p.Grammar == "vim" {
		a.reader.VimFunctions(name, inv, s)
	}
}

// namedFiles notes the files that a program in a language of its own names.
func (a *analysis) namedFiles(p *programs.Program, inv *call.Invocation, s word.Stream) {
	e := effects.New(a.FS, inv.Scope)
	for _, found := range foundBy(p.Reading, s.Text) {
		e.Read(word.Word{Text: found, Known: s.Known})
	}
	for _, found := range foundBy(p.Writing, s.Text) {
		e.Write(word.Word{Text: found, Known: s.Known})
	}
	a.AddToCall(inv.Number, e.Reads, e.Writes)
}

// runsMore reads the files that a program in a language of its own has run as more of it.
func (a *analysis) runsMore(name string, p *programs.Program, inv *call.Invocation, s word.Stream) {
	for _, found := range foundBy(p.Running, s.Text) {
		w := word.Word{Text: found, Known: s.Known}
		a.RunFile(w, inv.Scope)
		if more, ok := a.ProgramIn(w, inv.In, inv.Scope); ok && more.File != s.File && a.Spend(1) {
			a.ReadIn(more, func() { a.Commands(name, p, inv, more) })
		}
	}
}

// foundBy are the texts that expressions find; a program names few files.
func foundBy(expressions []programs.Escapes, text string) []string {
	var out []string
	for _, by := range expressions {
		for _, found := range by.FindAllStringSubmatch(text, word.MaxFields) {
			out = append(out, found[1])
		}
	}
	return out
}

// unpaired drops a quote at the end whose beginning stands before the text.
func unpaired(text string) string {
	text = strings.TrimSpace(text)
	for _, quote := range []string{"'", `"`} {
		if strings.HasSuffix(text, quote) && strings.Count(text, quote)%2 == 1 {
			return strings.TrimSuffix(text, quote)
		}
	}
	return text
}

// namesToRead notes the files that a list names.
func (a *analysis) namesToRead(inv *call.Invocation, s word.Stream) {
	if !s.Present {
		return
	}
	e := effects.New(a.FS, inv.Scope)
	for _, w := range a.InputWords(s) {
		e.Read(w)
	}
	a.AddToCall(inv.Number, e.Reads, nil)
}
