package loads

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ReadInputs reads what a program takes its standard input, and the files and texts that its
// options name, for: commands of its own, names of files, a patch.
func (ld *Loader) ReadInputs(name string, inv *call.Invocation, args *call.Arguments) {
	p := ld.About(name).Own
	for _, s := range ld.programTexts(p, inv, args) {
		ld.ReadIn(s, func() { ld.Commands(name, p, inv, s) })
	}
	for _, o := range args.Options {
		if p.Options[o.Name] == programs.FileOfNames {
			s, _ := ld.PseudoFile(o.Value, inv.In, inv.Scope)
			ld.noteListing(inv, s)
			if p.Output == programs.Report { // which says what stands in a list that names no file
				e := effects.New(ld.FS, inv.Scope)
				e.Read(o.Value)
				ld.Reads = append(ld.Reads, e.Reads...)
			}
		}
	}
	if p.Input == "" || !call.TakesInput(p, args) {
		return
	}
	switch p.Input {
	case programs.NamesToRead:
		ld.noteListing(inv, inv.In)
	case programs.Patch:
		ld.reader.Patch(name, inv, args)
	default:
		ld.ReadIn(inv.In, func() { ld.Commands(name, p, inv, inv.In) })
	}
}

// programTexts are the programs that options and operands of a call spell out.
func (ld *Loader) programTexts(p *programs.Program, inv *call.Invocation, args *call.Arguments) []word.Stream {
	var out []word.Stream
	for _, o := range args.Options {
		text := slices.Contains(p.Texts, o.Name)
		file := slices.Contains(p.Runs, o.Name) && p.Grammar == "" || text && p.Options[o.Name] == programs.FileRead
		if text && !file {
			out = append(out, word.Stream{Present: true, Text: o.Value.Text, Known: true, Taint: o.Value.Taint})
		}
		if file {
			if s, ok := ld.ProgramIn(o.Value, inv.In, inv.Scope); ok {
				out = append(out, s)
			}
		}
	}
	if slices.Contains(p.Runs, "operands") {
		for _, w := range args.Operands {
			ld.RunFile(w, inv.Scope)
			if s, ok := ld.ProgramIn(w, inv.In, inv.Scope); ok {
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
func (ld *Loader) Commands(name string, p *programs.Program, inv *call.Invocation, s word.Stream) {
	if !s.Present || s.Known && strings.TrimSpace(s.Text) == "" {
		return
	}
	if p.Input != programs.Commands {
		ld.Run(s.Path, s.File)
	}
	switch {
	case s.IsElsewhere() || s.Known && p.Plain.All(s.Text):
	case (!s.Known || p.Escapes.Regexp == nil) && p.Input != programs.Commands:
		ld.NoteRun(s.Taint)
		ld.Hide()
	case s.Known && p.Escapes.Regexp != nil:
		for _, found := range p.Escapes.FindAllStringSubmatch(s.Text, -1) {
			fed := *inv
			fed.In = word.Stream{}
			ld.Text(name, &fed, word.Word{Text: withoutQuote(found[1]), Known: true, Taint: s.Taint}, inv.Scope.Fork())
		}
	}
	ld.noteFileNames(p, inv, s)
	ld.runMore(name, p, inv, s)
	if p.Grammar == "vim" {
		ld.reader.VimFunctions(name, inv, s)
	}
}

// noteFileNames notes the files that a program in a language of its own names.
func (ld *Loader) noteFileNames(p *programs.Program, inv *call.Invocation, s word.Stream) {
	e := effects.New(ld.FS, inv.Scope)
	for _, found := range matchesOf(p.Reading, s.Text) {
		e.Read(word.Word{Text: found, Known: s.Known})
	}
	for _, found := range matchesOf(p.Writing, s.Text) {
		e.Write(word.Word{Text: found, Known: s.Known})
	}
	ld.AddToCall(inv.Number, e.Reads, e.Writes)
}

// runMore reads the files that a program in a language of its own has run as more of it.
func (ld *Loader) runMore(name string, p *programs.Program, inv *call.Invocation, s word.Stream) {
	for _, found := range matchesOf(p.Running, s.Text) {
		w := word.Word{Text: found, Known: s.Known}
		ld.RunFile(w, inv.Scope)
		if more, ok := ld.ProgramIn(w, inv.In, inv.Scope); ok && more.File != s.File && ld.Spend(1) {
			ld.ReadIn(more, func() { ld.Commands(name, p, inv, more) })
		}
	}
}

// matchesOf are the texts that expressions find; a program names few files.
func matchesOf(expressions []programs.Escapes, text string) []string {
	var out []string
	for _, by := range expressions {
		for _, found := range by.FindAllStringSubmatch(text, word.MaxFields) {
			out = append(out, found[1])
		}
	}
	return out
}

// withoutQuote drops a quote at the end whose beginning stands before the text.
func withoutQuote(text string) string {
	text = strings.TrimSpace(text)
	for _, quote := range []string{"'", `"`} {
		if strings.HasSuffix(text, quote) && strings.Count(text, quote)%2 == 1 {
			return strings.TrimSuffix(text, quote)
		}
	}
	return text
}

// noteListing notes the files that a list names.
func (ld *Loader) noteListing(inv *call.Invocation, s word.Stream) {
	if !s.Present {
		return
	}
	e := effects.New(ld.FS, inv.Scope)
	for _, w := range ld.InputWords(s) {
		e.Read(w)
	}
	ld.AddToCall(inv.Number, e.Reads, nil)
}
