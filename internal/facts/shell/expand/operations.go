package expand

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// listOperation is what an operation makes of all arguments or elements. It is false where it looks at the list as one.
func (ex *Expander) listOperation(p *syntax.ParamExp, items []word.Word, sc *state.Scope) ([]word.Word, bool) {
	if p.Exp != nil && p.Exp.Op <= syntax.AssignUnsetOrNull {
		if slices.ContainsFunc(items, func(w word.Word) bool { return !w.Known }) {
			ex.Word(p.Exp.Word, sc)
		}
		some := len(items) > 1 || len(items) == 1 && (!items[0].Known || items[0].Text != "")
		return items, some && p.Exp.Op != syntax.AlternateUnset && p.Exp.Op != syntax.AlternateUnsetOrNull
	}
	ex.innerWords(p, sc)
	if p.Slice != nil {
		return ex.section(p, items, sc), true
	}
	each := *p
	each.Param, each.Index = &syntax.Lit{Value: "_"}, nil
	out := make([]word.Word, 0, len(items))
	for _, w := range items {
		out = append(out, ex.operation(&each, w, sc))
	}
	return out, true
}

// section are the arguments or elements from a number on.
func (ex *Expander) section(p *syntax.ParamExp, items []word.Word, sc *state.Scope) []word.Word {
	lost := []word.Word{{Text: "$" + p.Param.Value}}
	if p.Index == nil && sc.ArgsKnown {
		first := sc.Name
		if first.Text == "" {
			first = word.Of("bash")
		}
		items = append([]word.Word{first}, items...)
	} else if p.Index == nil || sc.Variable(p.Param.Value).List == nil || sc.Variable(p.Param.Value).Keys != nil {
		return lost
	}
	from, ok := ex.integer(p.Slice.Offset, sc)
	if from < 0 {
		from += len(items)
	}
	count := len(items)
	if p.Slice.Length != nil {
		var told bool
		count, told = ex.integer(p.Slice.Length, sc)
		ok = ok && told
	}
	switch {
	case !ok || count < 0:
		return lost
	case from < 0 || from >= len(items):
		return nil
	}
	return items[from:min(from+count, len(items))]
}

// operation lets the shell library apply ${x%…}, ${x//a/b}, ${x:1:2} … to what is known.
func (ex *Expander) operation(p *syntax.ParamExp, held word.Word, sc *state.Scope) word.Word {
	name := p.Param.Value
	shown := word.Word{Text: "$" + name, Taint: held.Taint}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P" {
		ex.Hide() // the value is expanded once more, commands in it included
		return shown
	}
	if p.Excl && p.Names == 0 && allOf(p) == "" && !syntax.ValidName(held.Text) && !word.AllDigits(held.Text) {
		if strings.Contains(held.Text, "[") { // an index, which is evaluated
			ex.Hide()
		}
		return shown
	}
	env := environ{Scope: sc, home: cmp.Or(ex.home, homeMark)}
	if !p.Excl && p.Index == nil && !p.Length {
		env.name, env.held = name, held
	}
	if !env.Get(name).Set || !ex.isPortable(p, env.Get(name).Str, sc) {
		return shown
	}
	if at, pattern := anchor(p.Repl); at != 0 {
		return ex.anchorReplacement(p, at, pattern, held, sc)
	}
	if len(held.Text) > word.MaxRewrite || p.Repl != nil && len(ex.Word(p.Repl.With, sc).Text) > word.MaxRewrite ||
		!ex.Spend(1+len(held.Text)) {
		ex.Hide()
		return shown
	}
	w := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}}
	text, err := expand.Literal(&expand.Config{Env: env, NoUnset: true}, w)
	if err == nil && len(text) > word.MaxValue {
		ex.Hide()
	}
	text = strings.ReplaceAll(text, homeMark, "~")
	if err != nil || len(text) > word.MaxValue || strings.Contains(text, "\x01") {
		return shown
	}
	home := held.Home && strings.HasPrefix(text, "~")
	return word.Word{Text: text, Known: held.Known || p.Excl || p.Length, Home: home, Taint: held.Taint}
}

// isPortable says that the shell library makes of a value the same as bash in any locale and of any version.
func (ex *Expander) isPortable(p *syntax.ParamExp, held string, sc *state.Scope) bool {
	cuts := p.Slice != nil || p.Length || p.Repl != nil || p.Exp != nil && p.Exp.Op >= syntax.RemSmallSuffix
	switch {
	case p.Excl && (cuts || p.Exp != nil || p.Index != nil && allOf(p) == ""), cuts && !ascii(held):
		return false
	case p.Repl != nil && (p.Repl.Orig == nil || len(p.Repl.Orig.Parts) == 0): // of "${x///*/a}", too
		return false
	case p.Repl != nil:
		with := ex.Word(p.Repl.With, sc)
		return ex.plainPattern(p.Repl.Orig, sc) && with.Known && !strings.ContainsAny(with.Text, `&\~`) && !escapes(p.Repl.With)
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps:
		return slices.Contains([]string{"U", "L", "u"}, p.Exp.Word.Lit())
	case p.Exp != nil && p.Exp.Op >= syntax.RemSmallSuffix:
		return ex.plainPattern(p.Exp.Word, sc)
	}
	return true
}

// escapes says that a word has a backslash outside of quotes.
func escapes(w *syntax.Word) bool {
	return w != nil && slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, `\`)
	})
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// plainPattern says that a pattern is known, and that what is quoted in it or held by a variable has no sign of its own.
func (ex *Expander) plainPattern(pattern *syntax.Word, sc *state.Scope) bool {
	if pattern == nil {
		return true
	}
	for i, part := range pattern.Parts {
		w := ex.Word(&syntax.Word{Parts: []syntax.WordPart{part}}, sc)
		lit, plain := part.(*syntax.Lit)
		switch {
		case !w.Known || !ascii(w.Text):
			return false
		case plain && (strings.ContainsAny(lit.Value, `\(`) || i == 0 && strings.HasPrefix(lit.Value, "~")):
			return false
		case !plain && strings.ContainsAny(w.Text, `*?[]\()|+@!#%^~`):
			return false
		}
	}
	return true
}

// anchor is the sign that ties the pattern of "${x/#a/b}" or "${x/%a/b}" to an end of the value, and the pattern behind it.
func anchor(r *syntax.Replace) (at byte, pattern *syntax.Word) {
	if r == nil || r.All || r.Orig == nil || len(r.Orig.Parts) == 0 {
		return 0, nil
	}
	lit, ok := r.Orig.Parts[0].(*syntax.Lit)
	if !ok || lit.Value == "" || lit.Value[0] != '#' && lit.Value[0] != '%' {
		return 0, nil
	}
	behind := *lit
	behind.Value = lit.Value[1:]
	return lit.Value[0], &syntax.Word{Parts: append([]syntax.WordPart{&behind}, r.Orig.Parts[1:]...)}
}

// anchorReplacement puts something in the place of what a pattern matches at the beginning or the end of a value.
func (ex *Expander) anchorReplacement(p *syntax.ParamExp, at byte, pattern *syntax.Word, held word.Word, sc *state.Scope) word.Word {
	cut := *p
	cut.Repl, cut.Exp = nil, &syntax.Expansion{Op: syntax.RemLargePrefix, Word: pattern}
	if at == '%' {
		cut.Exp.Op = syntax.RemLargeSuffix
	}
	whole := cut
	whole.Exp = &syntax.Expansion{Op: syntax.RemLargePrefix, Word: &syntax.Word{}}
	rest, with := ex.operation(&cut, held, sc), ex.Word(p.Repl.With, sc)
	empty := len(pattern.Parts) == 1 && pattern.Lit() == ""
	switch {
	case held.Text == "" || !rest.Known:
		return word.Word{Text: "$" + p.Param.Value, Taint: held.Taint}
	case rest.Text == ex.operation(&whole, held, sc).Text && !empty:
		return held
	case at == '#':
		return word.Join([]word.Word{with, rest}, "")
	}
	return word.Join([]word.Word{rest, with}, "")
}

// homeMark stands for a home folder that is not known while the shell library changes a
// value.
const homeMark = "/home/\x01"

// environ shows the library the variables of a scope, and one as it is held: parts that
// are not known as they are written.
type environ struct {
	*state.Scope
	home string
	name string
	held word.Word
}

func (e environ) Get(name string) expand.Variable {
	v := e.Scope.Get(name)
	if name == e.name && (e.held.Known || strings.Contains(e.held.Text, "/")) {
		v = expand.Variable{Set: true, Kind: expand.String, Str: e.held.Text}
	} else if !e.Has(name) && name == "HOME" {
		v = expand.Variable{Set: true, Kind: expand.String, Str: "~"}
	}
	if rest, ok := strings.CutPrefix(v.Str, "~"); ok && v.Kind == expand.String && e.startsAtHome(name) {
		v.Str = e.home + rest
	}
	return v
}

// startsAtHome says that the "~" before a value is the home folder, and not a sign of its own.
func (e environ) startsAtHome(name string) bool {
	if name == e.name {
		return e.held.Home
	}
	v, some := e.Variable(name), e.Has(name)
	return !some && name == "HOME" || len(v.List) == 1 && v.List[0].Home
}

// innerWords reads the commands that the words inside ${…} substitute.
func (ex *Expander) innerWords(p *syntax.ParamExp, sc *state.Scope) {
	if p.Repl != nil {
		ex.Word(p.Repl.Orig, sc)
		ex.Word(p.Repl.With, sc)
	}
	if p.Exp != nil && p.Exp.Op >= syntax.RemSmallSuffix {
		ex.Word(p.Exp.Word, sc)
	}
	if p.Index != nil {
		ex.Operands(p.Index, sc)
	}
	if p.Slice != nil {
		ex.slice(p.Slice, sc)
	}
}

func (ex *Expander) slice(s *syntax.Slice, sc *state.Scope) {
	for _, x := range []syntax.ArithmExpr{s.Offset, s.Length} {
		if x != nil {
			ex.Operands(x, sc)
		}
	}
}
