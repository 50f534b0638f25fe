package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// takes reads what a program takes its standard input, and the files and texts that its
// options name, for: commands of its own, names of files, a patch.
func (a *analysis) takes(name string, inv *invocation, args *arguments) {
	p := a.about(name).Own
	for _, s := range a.programTexts(p, inv, args) {
		a.reading(s, func() { a.commands(name, p, inv, s) })
	}
	for _, o := range args.options {
		if p.Options[o.name] == programs.FileOfNames {
			s, _ := a.hands(o.value, inv.in, inv.sc)
			a.namesToRead(inv, s)
			if p.Output == programs.Report { // which says what stands in a list that names no file
				e := newEffect(a.overlay, inv.sc)
				e.read(o.value)
				a.reads = append(a.reads, e.reads...)
			}
		}
	}
	if p.Input == "" || !takesInput(p, args) {
		return
	}
	switch p.Input {
	case programs.NamesToRead:
		a.namesToRead(inv, inv.in)
	case programs.Patch:
		a.reader.patches(name, inv, args)
	default:
		a.reading(inv.in, func() { a.commands(name, p, inv, inv.in) })
	}
}

// takesInput says whether a call takes its standard input for what the grammar says.
func takesInput(p *programs.Program, args *arguments) bool {
	if len(p.When) == 0 {
		return true
	}
	return slices.ContainsFunc(p.When, func(when string) bool {
		switch when {
		case "alone":
			return len(args.operands) == 0
		case "dash":
			return slices.ContainsFunc(args.all, func(w word) bool { return w.text == "-" })
		}
		return args.has(when) || first(args.operands).text == when
	})
}

// programTexts are the programs that options and operands of a call spell out.
func (a *analysis) programTexts(p *programs.Program, inv *invocation, args *arguments) []stream {
	var out []stream
	for _, o := range args.options {
		text := slices.Contains(p.Texts, o.name)
		file := slices.Contains(p.Runs, o.name) && p.Grammar == "" || text && p.Options[o.name] == programs.FileRead
		if text && !file {
			out = append(out, stream{present: true, text: o.value.text, known: true, Taint: o.value.Taint})
		}
		if file {
			if s, ok := a.programIn(o.value, inv.in, inv.sc); ok {
				out = append(out, s)
			}
		}
	}
	if slices.Contains(p.Texts, "operands") {
		for _, w := range after(args.operands, 1) {
			out = append(out, stream{present: true, text: w.text, known: true, Taint: w.Taint})
		}
	}
	return out
}

// commands reads a program in a language of its own as far as it starts others.
func (a *analysis) commands(name string, p *programs.Program, inv *invocation, s stream) {
	if !s.present || s.known && strings.TrimSpace(s.text) == "" {
		return
	}
	if p.Input != programs.Commands {
		a.runs(s.path, s.file)
	}
	switch {
	case s.isElsewhere() || s.known && p.Plain.All(s.text):
	case (!s.known || p.Escapes.Regexp == nil) && p.Input != programs.Commands:
		a.ran(s.Taint)
		a.hide()
	case s.known && p.Escapes.Regexp != nil:
		for _, found := range p.Escapes.FindAllStringSubmatch(s.text, -1) {
			fed := *inv
			fed.in = stream{}
			a.text(name, &fed, word{text: unpaired(found[1]), known: true, Taint: s.Taint}, inv.sc.fork())
		}
	}
	a.namedFiles(p, inv, s)
	a.runsMore(name, p, inv, s)
	if p.Grammar == "vim" {
		a.reader.vimFunctions(name, inv, s)
	}
}

// namedFiles notes the files that a program in a language of its own names.
func (a *analysis) namedFiles(p *programs.Program, inv *invocation, s stream) {
	e := newEffect(a.overlay, inv.sc)
	for _, found := range foundBy(p.Reading, s.text) {
		e.read(word{text: found, known: s.known})
	}
	for _, found := range foundBy(p.Writing, s.text) {
		e.write(word{text: found, known: s.known})
	}
	a.alsoTouches(inv.made, e.reads, e.writes)
}

// runsMore reads the files that a program in a language of its own has run as more of it.
func (a *analysis) runsMore(name string, p *programs.Program, inv *invocation, s stream) {
	for _, found := range foundBy(p.Running, s.text) {
		w := word{text: found, known: s.known}
		a.runsFile(w, inv.sc)
		if more, ok := a.programIn(w, inv.in, inv.sc); ok && more.file != s.file && a.spend(1) {
			a.reading(more, func() { a.commands(name, p, inv, more) })
		}
	}
}

// foundBy are the texts that expressions find; a program names few files.
func foundBy(expressions []programs.Escapes, text string) []string {
	var out []string
	for _, by := range expressions {
		for _, found := range by.FindAllStringSubmatch(text, maxFields) {
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
func (a *analysis) namesToRead(inv *invocation, s stream) {
	if !s.present {
		return
	}
	e := newEffect(a.overlay, inv.sc)
	for _, w := range a.inputWords(s) {
		e.read(w)
	}
	a.alsoTouches(inv.made, e.reads, nil)
}
