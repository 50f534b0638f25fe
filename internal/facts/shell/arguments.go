package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// arguments are a call's words, told apart by what its program takes.
type arguments struct {
	flags    []string
	operands []word
	options  []option
	// rest are the words from the first operand on, options included.
	rest []word
	// all are the words as they stand.
	all []word
	// verb is what is known of the first operand where that is a program's verb, nil for other programs.
	verb *programs.Entry
}

// option is an option that has a value.
type option struct {
	name  string
	value word
}

// has says whether one of the flags is given.
func (g *arguments) has(names ...string) bool {
	for _, f := range g.flags {
		for _, n := range names {
			if f == n {
				return true
			}
		}
	}
	return false
}

// value is the last value of one of the options.
func (g *arguments) value(names ...string) (w word, ok bool) {
	for _, o := range g.options {
		for _, n := range names {
			if o.name == n {
				w, ok = o.value, true
			}
		}
	}
	return w, ok
}

// parseArguments reads options as the program p does; a program that is
// not described takes no option values.
func parseArguments(words []word, p *programs.Program) *arguments {
	return readArguments(words, p, p.Strict)
}

// readArguments reads options up to the first operand only, where that is strict.
func readArguments(words []word, p *programs.Program, strict bool) *arguments {
	g := &arguments{all: words}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.text == "--" && w.known:
			g.addOperands(words[i+1:], words[i+1:])
			return g
		case !optionLike(w, p):
			if strict {
				g.addOperands(words[i:], words[i:])
				return g
			}
			g.addOperands(words[i:], words[i:i+1])
		default:
			i += g.option(w, words[i+1:], p)
		}
	}
	return g
}

func (g *arguments) addOperands(rest, operands []word) {
	if g.rest == nil {
		g.rest = rest
	}
	g.operands = append(g.operands, operands...)
}

func optionLike(w word, p *programs.Program) bool {
	if len(w.text) < 2 || w.text[0] == '+' && !p.Plus {
		return false
	}
	return w.text[0] == '-' || w.text[0] == '+'
}

// option adds the options in one word; it returns how many words after it are values.
func (g *arguments) option(w word, after []word, p *programs.Program) (used int) {
	name, value, attached := strings.Cut(w.text, "=")
	if strings.HasPrefix(name, "--") && len(name) > 2 {
		name = p.Spelt(name)
	}
	if strings.HasPrefix(name, "--") || p.Long || name[0] == '+' || allDigits(name[1:]) {
		g.flags = append(g.flags, name)
		if attached {
			g.options = append(g.options, option{name, part(w, value)})
			return 0
		}
		return g.follows(name, after, p)
	}
	return g.cluster(w, after, p)
}

// cluster reads "-rf", "-ofile" and "-o file".
func (g *arguments) cluster(w word, after []word, p *programs.Program) (used int) {
	if p == &programs.Undescribed && len(w.text) > 6 {
		name, _, _ := strings.Cut(w.text, "=")
		g.flags = append(g.flags, name)
		return 0
	}
	for i := 1; i < len(w.text); i++ {
		if w.text[i] == '$' || w.text[i] >= 0x80 {
			return 0
		}
		name := w.text[:1] + w.text[i:i+1]
		g.flags = append(g.flags, name)
		if _, takes := p.Options[name]; !takes {
			continue
		}
		if rest := w.text[i+1:]; rest != "" {
			g.options = append(g.options, option{name, part(w, rest)})
			return 0
		}
		return g.follows(name, after, p)
	}
	return 0
}

func (g *arguments) follows(name string, after []word, p *programs.Program) int {
	if _, takes := p.Options[name]; !takes || len(after) == 0 {
		return 0
	}
	g.options = append(g.options, option{name, after[0]})
	return 1
}

// destination splits the operands of "cp" and its like into those that are copied and the one that
// is written. With into that is a folder for sure.
func (g *arguments) destination() (sources []word, to word, into bool) {
	sources = g.operands
	to, into = g.value("-t", "--target-directory")
	if !into && len(sources) > 1 {
		last := len(sources) - 1
		sources, to = sources[:last], sources[last]
	}
	return sources, to, into
}

// afterScript are the operands after a pattern or a program, if that is one of them.
func (g *arguments) afterScript(ops []word) []word {
	_, given := g.value("-e", "-f", "--expression", "--file", "--regexp", "--from-file")
	if given || len(ops) == 0 || g.has("--files") {
		return ops
	}
	return ops[1:]
}
