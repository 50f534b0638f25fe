package call

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Arguments are a call's words, told apart by what its program takes.
type Arguments struct {
	Flags    []string
	Operands []word.Word
	Options  []Option
	// Rest are the words from the first operand on, options included.
	Rest []word.Word
	// All are the words as they stand.
	All []word.Word
	// Verb is what is known of the first operand where that is a program's verb, nil for other programs.
	Verb *programs.Entry
}

// Option is an option that has a value.
type Option struct {
	Name  string
	Value word.Word
}

// Has says whether one of the flags is given.
func (g *Arguments) Has(names ...string) bool {
	for _, f := range g.Flags {
		for _, n := range names {
			if f == n {
				return true
			}
		}
	}
	return false
}

// Value is the last value of one of the options.
func (g *Arguments) Value(names ...string) (w word.Word, ok bool) {
	for _, o := range g.Options {
		for _, n := range names {
			if o.Name == n {
				w, ok = o.Value, true
			}
		}
	}
	return w, ok
}

// ParseArguments reads options as the program p does; a program that is
// not described takes no option values.
func ParseArguments(words []word.Word, p *programs.Program) *Arguments {
	return ReadArguments(words, p, p.Strict)
}

// ReadArguments reads options up to the first operand only, where that is strict.
func ReadArguments(words []word.Word, p *programs.Program, strict bool) *Arguments {
	g := &Arguments{All: words}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Text == "--" && w.Known:
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

func (g *Arguments) addOperands(rest, operands []word.Word) {
	if g.Rest == nil {
		g.Rest = rest
	}
	g.Operands = append(g.Operands, operands...)
}

func optionLike(w word.Word, p *programs.Program) bool {
	if len(w.Text) < 2 || w.Text[0] == '+' && !p.Plus {
		return false
	}
	return w.Text[0] == '-' || w.Text[0] == '+'
}

// option adds the options in one word; it returns how many words after it are values.
func (g *Arguments) option(w word.Word, after []word.Word, p *programs.Program) (used int) {
	name, value, attached := strings.Cut(w.Text, "=")
	if strings.HasPrefix(name, "--") && len(name) > 2 {
		name = p.Spelt(name)
	}
	if strings.HasPrefix(name, "--") || p.Long || name[0] == '+' || word.AllDigits(name[1:]) {
		g.Flags = append(g.Flags, name)
		if attached {
			g.Options = append(g.Options, Option{name, word.Part(w, value)})
			return 0
		}
		return g.follows(name, after, p)
	}
	return g.cluster(w, after, p)
}

// cluster reads "-rf", "-ofile" and "-o file".
func (g *Arguments) cluster(w word.Word, after []word.Word, p *programs.Program) (used int) {
	if p == &programs.Undescribed && len(w.Text) > 6 {
		name, _, _ := strings.Cut(w.Text, "=")
		g.Flags = append(g.Flags, name)
		return 0
	}
	for i := 1; i < len(w.Text); i++ {
		// No letter is an option behind ":": "-M:test" is one with its value.
		if w.Text[i] == '$' || w.Text[i] == ':' || w.Text[i] >= 0x80 {
			return 0
		}
		name := w.Text[:1] + w.Text[i:i+1]
		g.Flags = append(g.Flags, name)
		if _, takes := p.Options[name]; !takes {
			continue
		}
		if rest := w.Text[i+1:]; rest != "" {
			g.Options = append(g.Options, Option{name, word.Part(w, rest)})
			return 0
		}
		return g.follows(name, after, p)
	}
	return 0
}

func (g *Arguments) follows(name string, after []word.Word, p *programs.Program) int {
	if _, takes := p.Options[name]; !takes || len(after) == 0 {
		return 0
	}
	g.Options = append(g.Options, Option{name, after[0]})
	return 1
}

// Destination splits the operands of "cp" and its like into those that are copied and the one that
// is written. With into that is a folder for sure.
func (g *Arguments) Destination() (sources []word.Word, to word.Word, into bool) {
	sources = g.Operands
	to, into = g.Value("-t", "--target-directory")
	if !into && len(sources) > 1 {
		last := len(sources) - 1
		sources, to = sources[:last], sources[last]
	}
	return sources, to, into
}

// AfterScript are the operands after a pattern or a program, if that is one of them.
func (g *Arguments) AfterScript(ops []word.Word) []word.Word {
	_, given := g.Value("-e", "-f", "-E", "--expression", "--file", "--regexp", "--from-file", "--source", "--exec")
	if given || len(ops) == 0 || g.Has("--files") {
		return ops
	}
	return ops[1:]
}
