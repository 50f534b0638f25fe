package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// wrapper sees through a program that runs another one.
func (a *analysis) wrapper(name string, inv *invocation, args *arguments) (result, bool) {
	p := programs.Of(name)
	if runs := grammarOf(p.Grammar).runs; runs != nil {
		return runs(a, name, inv, args)
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
	case programs.ShellTexts:
		a.shellTexts(name, inv)
	}
	if words := inv.argv[1:]; len(words) > 0 && p.Subcommands != nil {
		if between, ok := p.Subcommands[words[0].text]; ok {
			return a.launched(name, inv, after(words, 1+between))
		}
	}
	return result{}, false
}

// launched runs a program in a project's environment.
func (a *analysis) launched(name string, inv *invocation, words []word) (result, bool) {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") && words[0].text != "-" {
		words = words[1:]
	}
	if len(words) == 0 {
		return result{}, false
	}
	if words[0].text == "-" { // a program in the language of the project, on the standard input
		a.inline(name, "python", inv, inv.in.word())
		return result{out: unknown(value.Taint{})}, true
	}
	return a.inner(name, inv, words), true
}

// shellTexts gives each argument of several words to a shell.
func (a *analysis) shellTexts(name string, inv *invocation) {
	for _, w := range inv.argv[1:] {
		if strings.Contains(w.text, " ") {
			a.text(name, inv, w, inv.sc.fork())
		}
	}
}

func after(words []word, n int) []word { return words[min(n, len(words)):] }

func first(words []word) word {
	if len(words) == 0 {
		return known("")
	}
	return words[0]
}

// prefixed is a wrapper whose command follows its own options.
func (a *analysis) prefixed(name string, inv *invocation, args *arguments) result {
	p := programs.Of(name)
	rest := args.rest
	in := *inv
	if p.Assigns {
		rest, in.assigns = a.leadingAssignments(rest, &in)
	}
	if dir, ok := args.value(p.Chdir...); ok {
		in.sc = a.standing(dir, inv.sc)
	}
	switch {
	case p.Skips == programs.Operand, p.Skips == programs.Name && !strings.Contains(first(rest).text, "/"):
		rest = after(rest, 1)
	}
	if len(rest) == 0 && args.has(p.Edits...) {
		return result{}
	}
	if len(rest) == 0 && (args.has("-s", "--shell", "-i", "--login") || p.ShellAlone) && inv.in.present {
		rest = []word{known("sh")}
	}
	return a.inner(name, &in, rest)
}
