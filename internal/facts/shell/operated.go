package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// listOperated is what an operation makes of all arguments or elements. It is false where it looks at the list as one.
func (ex *expander) listOperated(p *syntax.ParamExp, items []word, sc *scope) ([]word, bool) {
	if p.Exp != nil && p.Exp.Op <= syntax.AssignUnsetOrNull {
		if slices.ContainsFunc(items, func(w word) bool { return !w.known }) {
			ex.single(p.Exp.Word, sc)
		}
		some := len(items) > 1 || len(items) == 1 && (!items[0].known || items[0].text != "")
		return items, some && p.Exp.Op != syntax.AlternateUnset && p.Exp.Op != syntax.AlternateUnsetOrNull
	}
	ex.innerWords(p, sc)
	if p.Slice != nil {
		return ex.sliced(p, items, sc), true
	}
	each := *p
	each.Param, each.Index = &syntax.Lit{Value: "_"}, nil
	out := make([]word, 0, len(items))
	for _, w := range items {
		out = append(out, ex.operated(&each, w, sc))
	}
	return out, true
}

// sliced are the arguments or elements from a number on.
func (ex *expander) sliced(p *syntax.ParamExp, items []word, sc *scope) []word {
	lost := []word{{text: "$" + p.Param.Value}}
	if p.Index == nil && sc.argsKnown {
		first := sc.name
		if first.text == "" {
			first = known("bash")
		}
		items = append([]word{first}, items...)
	} else if p.Index == nil || sc.vars[p.Param.Value].list == nil || sc.vars[p.Param.Value].keys != nil {
		return lost
	}
	from, ok := number(ex.arithmetic(p.Slice.Offset, sc))
	if from < 0 {
		from += len(items)
	}
	count := len(items)
	if p.Slice.Length != nil {
		var told bool
		count, told = number(ex.arithmetic(p.Slice.Length, sc))
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

func number(w word) (n int, ok bool) {
	n, err := strconv.Atoi(w.text)
	return n, w.known && err == nil && n > -maxValue && n < maxValue
}

// operated lets the shell library apply ${x%…}, ${x//a/b}, ${x:1:2} … to what is known.
func (ex *expander) operated(p *syntax.ParamExp, held word, sc *scope) word {
	name := p.Param.Value
	shown := word{text: "$" + name, Taint: held.Taint}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P" {
		ex.hide() // the value is expanded once more, commands in it included
		return shown
	}
	if p.Excl && p.Names == 0 && allOf(p) == "" && !syntax.ValidName(held.text) && !allDigits(held.text) {
		if strings.Contains(held.text, "[") { // an index, which is evaluated
			ex.hide()
		}
		return shown
	}
	env := environ{scope: sc, home: cmp.Or(ex.home, homeMark)}
	if !p.Excl && p.Index == nil && !p.Length {
		env.name, env.held = name, held
	}
	if !env.Get(name).Set || !ex.readAlike(p, env.Get(name).Str, sc) {
		return shown
	}
	if at, pattern := anchor(p.Repl); at != 0 {
		return ex.anchored(p, at, pattern, held, sc)
	}
	if len(held.text) > maxOperated || p.Repl != nil && len(ex.single(p.Repl.With, sc).text) > maxOperated || !ex.spend(1+len(held.text)) {
		ex.hide()
		return shown
	}
	w := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}}
	text, err := expand.Literal(&expand.Config{Env: env, NoUnset: true}, w)
	if err == nil && len(text) > maxValue {
		ex.hide()
	}
	text = strings.ReplaceAll(text, homeMark, "~")
	if err != nil || len(text) > maxValue || strings.Contains(text, "\x01") {
		return shown
	}
	return word{text: text, known: held.known || p.Excl || p.Length, home: held.home && strings.HasPrefix(text, "~"), Taint: held.Taint}
}

// readAlike says that the shell library makes of a value the same as bash in any locale and of any version.
func (ex *expander) readAlike(p *syntax.ParamExp, held string, sc *scope) bool {
	cuts := p.Slice != nil || p.Length || p.Repl != nil || p.Exp != nil && p.Exp.Op >= syntax.RemSmallSuffix
	switch {
	case p.Excl && (cuts || p.Exp != nil || p.Index != nil && allOf(p) == ""), cuts && !ascii(held):
		return false
	case p.Repl != nil && (p.Repl.Orig == nil || len(p.Repl.Orig.Parts) == 0): // of "${x///*/a}", too
		return false
	case p.Repl != nil:
		with := ex.single(p.Repl.With, sc)
		return ex.plainPattern(p.Repl.Orig, sc) && with.known && !strings.ContainsAny(with.text, `&\~`) && !escapes(p.Repl.With)
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
func (ex *expander) plainPattern(pattern *syntax.Word, sc *scope) bool {
	if pattern == nil {
		return true
	}
	for i, part := range pattern.Parts {
		w := ex.single(&syntax.Word{Parts: []syntax.WordPart{part}}, sc)
		lit, plain := part.(*syntax.Lit)
		switch {
		case !w.known || !ascii(w.text):
			return false
		case plain && (strings.ContainsAny(lit.Value, `\(`) || i == 0 && strings.HasPrefix(lit.Value, "~")):
			return false
		case !plain && strings.ContainsAny(w.text, `*?[]\()|+@!#%^~`):
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

// anchored puts something in the place of what a pattern matches at the beginning or the end of a value.
func (ex *expander) anchored(p *syntax.ParamExp, at byte, pattern *syntax.Word, held word, sc *scope) word {
	cut := *p
	cut.Repl, cut.Exp = nil, &syntax.Expansion{Op: syntax.RemLargePrefix, Word: pattern}
	if at == '%' {
		cut.Exp.Op = syntax.RemLargeSuffix
	}
	whole := cut
	whole.Exp = &syntax.Expansion{Op: syntax.RemLargePrefix, Word: &syntax.Word{}}
	rest, with := ex.operated(&cut, held, sc), ex.single(p.Repl.With, sc)
	empty := len(pattern.Parts) == 1 && pattern.Lit() == ""
	switch {
	case held.text == "" || !rest.known:
		return word{text: "$" + p.Param.Value, Taint: held.Taint}
	case rest.text == ex.operated(&whole, held, sc).text && !empty:
		return held
	case at == '#':
		return join([]word{with, rest}, "")
	}
	return join([]word{rest, with}, "")
}

// homeMark stands for a home folder that is not known while the shell library changes a
// value.
const homeMark = "/home/\x01"

// environ shows the library the variables of a scope, and one as it is held: parts that
// are not known as they are written.
type environ struct {
	*scope
	home string
	name string
	held word
}

func (e environ) Get(name string) expand.Variable {
	v := e.scope.Get(name)
	if name == e.name && (e.held.known || strings.Contains(e.held.text, "/")) {
		v = expand.Variable{Set: true, Kind: expand.String, Str: e.held.text}
	} else if _, ok := e.vars[name]; !ok && name == "HOME" {
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
		return e.held.home
	}
	v, some := e.vars[name]
	return !some && name == "HOME" || len(v.list) == 1 && v.list[0].home
}
