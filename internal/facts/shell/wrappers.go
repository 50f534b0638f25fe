package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// wrapper sees through a program that runs another one.
func (a *analysis) wrapper(name string, inv *invocation, args *arguments) (result, bool) {
	p := a.about(name).Own
	if runs := grammarOf(p.Grammar).runs; runs != nil {
		return runs(a.reader, name, inv, args)
	}
	for _, o := range args.options {
		if slices.Contains(p.Shells, o.name) {
			a.text(name, inv, o.value, inv.sc.fork())
		}
	}
	if p.Wraps == programs.ShellTexts {
		a.shellTexts(name, inv)
	}
	if r, ok := a.behind(name, p, inv); ok {
		return r, true
	}
	if words := inv.argv[1:]; len(words) > 0 && p.Subcommands != nil {
		if between, ok := p.Subcommands[words[0].text]; ok {
			return a.launched(name, inv, after(words, 1+between))
		}
	}
	switch p.Wraps {
	case programs.Command:
		return a.prefixed(name, inv, args), true
	case programs.AfterOperand:
		return a.inner(name, inv, after(args.rest, 1)), true
	case programs.Rest:
		return a.inner(name, inv, args.rest), true
	case programs.AllWords:
		return a.inner(name, inv, inv.argv[1:]), true
	case programs.Launched:
		return a.launched(name, inv, inv.argv[1:])
	}
	return result{}, false
}

// behind runs what stands behind an option that ends a program's own words. One that follows another option may be the value of
// that, so with a second one it is not clear which of them it is.
func (a *analysis) behind(name string, p *programs.Program, inv *invocation) (result, bool) {
	ends := func(w word) bool { return slices.Contains(p.Behind, w.text) }
	for i, w := range inv.argv[1:] {
		if !ends(w) {
			continue
		}
		words := inv.argv[i+2:]
		if i > 0 && strings.HasPrefix(inv.argv[i].text, "-") && !slices.Contains(p.Shells, w.text) && slices.ContainsFunc(words, ends) {
			a.hide()
		}
		if len(words) == 1 && strings.ContainsAny(words[0].text, " \t") {
			return a.text(name, inv, words[0], inv.sc.fork()), true
		}
		return a.inner(name, inv, words), len(words) > 0
	}
	return result{}, false
}

// launched runs a program in a project's environment.
func (a *analysis) launched(name string, inv *invocation, words []word) (result, bool) {
	words = parseArguments(words, &programs.Program{Strict: true, Options: a.about(name).Own.Options}).rest
	if len(words) == 0 {
		return result{}, false
	}
	if words[0].text == "-" { // a program in the language of the project, on the standard input
		a.inline(name, "python", inv, inv.in.word())
		return result{out: unknown(value.Taint{})}, true
	}
	return a.inner(name, inv, words), true
}

// shellTexts gives each argument of several words to a shell, and what is attached to an option. A file that the text wrote or
// fetched is the program that it names.
func (a *analysis) shellTexts(name string, inv *invocation) {
	for i, w := range inv.argv[1:] {
		if !strings.ContainsAny(w.text, " \t") {
			a.startsWritten(name, inv, inv.argv[1+i:])
			continue
		}
		if _, value, ok := strings.Cut(w.text, "="); ok && strings.HasPrefix(w.text, "--") {
			w = part(w, value)
		} else if strings.HasPrefix(w.text, "-") && len(w.text) > 2 {
			w = part(w, w.text[2:])
		}
		a.text(name, inv, w, inv.sc.fork())
	}
}

// startsWritten starts the file that the first of the words names, if the text put it there.
func (a *analysis) startsWritten(name string, inv *invocation, words []word) {
	if !strings.Contains(words[0].text, "/") {
		return
	}
	if p := a.path(words[0], inv.sc); a.holdsText(p) || a.downloaded(p) {
		a.inner(name, inv, words)
	}
}

// prefixed is a wrapper whose command follows its own options.
func (a *analysis) prefixed(name string, inv *invocation, args *arguments) result {
	p := a.about(name).Own
	rest := args.rest
	in := *inv
	if p.Assigns {
		rest, in.assigns = a.leadingAssignments(rest, &in)
	}
	if dir, ok := args.value(p.Chdir...); ok {
		in.sc = a.standing(dir, inv.sc)
	}
	switch {
	case p.Skips == programs.Operand:
		rest = after(rest, 1)
	case p.Skips == programs.Name && !strings.Contains(first(rest).text, "/") && !programs.Starts(first(rest).text):
		rest = parseArguments(after(rest, 1), &programs.Program{Strict: true}).rest
	}
	if len(rest) == 0 && args.has(p.Edits...) {
		return result{}
	}
	if len(rest) == 0 && (args.has("-s", "--shell", "-i", "--login") || p.ShellAlone) && inv.in.present {
		rest = []word{known("sh")}
	}
	return a.inner(name, &in, rest)
}
