package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// fields expands words as the arguments of a command.
func (a *analysis) fields(words []*syntax.Word, sc *scope) []word {
	out := make([]word, 0, len(words))
	for _, w := range words {
		for _, b := range a.braces(w) {
			f := newFielder()
			a.parts(f, b.Parts, sc, true)
			for _, w := range a.ended(f) {
				out = append(out, w.stands()...)
			}
			if !a.spend(1+len(f.out)) || len(out) > maxFields {
				a.complete = false
				return out
			}
		}
	}
	return out
}

func (a *analysis) braces(w *syntax.Word) []*syntax.Word {
	if lit, ok := w.Parts[0].(*syntax.Lit); len(w.Parts) == 1 && ok && !strings.Contains(lit.Value, "{") {
		return []*syntax.Word{w}
	}
	if openBraces(w) > MaxNesting {
		a.complete = false
		return []*syntax.Word{w}
	}
	if !syntax.SplitBraces(w) && !braced(w) {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for b, err := range expand.BracesSeq(nil, w) {
		if err != nil || len(out) >= maxFields || !a.spend(1+len(b.Parts)) {
			a.complete = false
			break
		}
		out = append(out, b)
	}
	return out
}

// openBraces counts what brace expansion would have to match up.
func openBraces(w *syntax.Word) int {
	n := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}

func braced(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if _, ok := p.(*syntax.BraceExp); ok {
			return true
		}
	}
	return false
}

// single expands a word that the shell does not split, such as an assigned value.
func (a *analysis) single(w *syntax.Word, sc *scope) word {
	if w == nil {
		return known("")
	}
	f := newFielder()
	a.parts(f, w.Parts, sc, false)
	f.open = true
	return join(a.ended(f), " ")
}

// document expands a here-document's body.
func (a *analysis) document(w *syntax.Word, sc *scope) word {
	if w == nil {
		return known("")
	}
	f := newFielder()
	for _, p := range w.Parts {
		a.quotedPart(f, p, sc)
	}
	f.open = true
	return join(a.ended(f), "")
}

// ended are the fields of a word. What was left out of them hides what the text does.
func (a *analysis) ended(f *fielder) []word {
	f.end()
	if f.over {
		a.hide()
	}
	return f.out
}

// parts expands unquoted parts; split says whether what variables hold is split.
func (a *analysis) parts(f *fielder, parts []syntax.WordPart, sc *scope, split bool) {
	defer a.enter()()
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			a.bare(f, p.Value, i == 0, sc)
		case *syntax.SglQuoted:
			f.singleQuoted(p)
		case *syntax.DblQuoted:
			f.open = true
			a.quoted(f, p, sc)
		case *syntax.ExtGlob:
			f.add(p.Op.String() + unquoted.Replace(p.Pattern.Value) + ")")
			f.cur.glob = true
		case *syntax.BraceExp:
			f.hole("{…}", value.Taint{})
		default:
			a.expanded(f, p, sc, split)
		}
	}
}

// unquoted drops the quotes inside an extended pattern.
var unquoted = strings.NewReplacer(`\`, "", `"`, "", "'", "")

// bare adds unquoted text.
func (a *analysis) bare(f *fielder, s string, first bool, sc *scope) {
	if first && (s == "~" || strings.HasPrefix(s, "~/")) {
		home, _ := a.value("HOME", sc)
		f.word(home)
		s = s[1:]
	}
	if first && (s == "~+" || strings.HasPrefix(s, "~+/")) {
		folder, _ := a.value("PWD", sc)
		f.word(folder)
		s = s[2:]
	}
	if first && (s == "~-" || strings.HasPrefix(s, "~-/")) {
		if folder, set := a.value("OLDPWD", sc); set {
			f.word(folder)
			s = s[2:]
		}
	}
	if strings.ContainsAny(s, "*?[") {
		f.cur.glob = f.cur.glob || wild(s)
	}
	f.add(unescape(s, ""))
}

// wild says whether a wildcard in s is not escaped.
func wild(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(s[i:], ']') > 0 {
				return true
			}
		}
	}
	return false
}

// unescape removes backslashes: all of them, or those before one of only.
func unescape(s, only string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || only != "" && strings.IndexByte(only, s[i+1]) < 0 {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// singleQuoted adds what stands in single quotes, behind "$" with its escapes. Those of control signs are not followed.
func (f *fielder) singleQuoted(q *syntax.SglQuoted) {
	if !q.Dollar {
		f.add(q.Value)
		return
	}
	s, _, err := expand.Format(new(expand.Config), q.Value, nil)
	if err != nil || strings.Contains(q.Value, `\c`) {
		f.hole("$'…'", value.Taint{})
		return
	}
	s, _, _ = strings.Cut(s, "\x00")
	f.add(s)
}

// quotesBlanks says that the word of an expansion has quotes which keep a part of it from being split.
func quotesBlanks(p *syntax.ParamExp) bool {
	return p.Exp != nil && p.Exp.Op < syntax.RemSmallSuffix && p.Exp.Word != nil &&
		slices.ContainsFunc(p.Exp.Word.Parts, func(part syntax.WordPart) bool {
			_, lit := part.(*syntax.Lit)
			return !lit && len(p.Exp.Word.Parts) > 1
		})
}

// literalQuotes is the text in the single quotes of a word such as "${x:-'a'}", which quote nothing in double quotes.
func literalQuotes(p *syntax.ParamExp) (held string, ok bool) {
	if p.Exp == nil || p.Exp.Op > syntax.AssignUnsetOrNull || p.Exp.Word == nil {
		return "", false
	}
	for _, part := range p.Exp.Word.Parts {
		if q, quoted := part.(*syntax.SglQuoted); quoted {
			held, ok = held+q.Value, true
		}
	}
	return held, ok
}

// innerQuotes adds such a word, which is not followed. The text has another end to bash where the quotes hold a sign of its own.
func (a *analysis) innerQuotes(f *fielder, p *syntax.ParamExp, held string, sc *scope) {
	w := a.parameter(p, sc)
	if strings.ContainsAny(held, "$`\\}\"") {
		a.hide()
	}
	f.hole("${…}", w.Taint)
}

func (a *analysis) quoted(f *fielder, q *syntax.DblQuoted, sc *scope) {
	for _, p := range q.Parts {
		pe, ok := p.(*syntax.ParamExp)
		if !ok {
			a.quotedPart(f, p, sc)
			continue
		}
		switch list, sign, ok := a.list(pe, sc); {
		case !ok:
			a.quotedPart(f, p, sc)
		case sign == "*":
			f.word(sc.joined(list, sign))
		default:
			a.addList(f, list, len(q.Parts) == 1)
		}
	}
}

// addList adds what "$@" and "${a[@]}" stand for in quotes: several fields, or none where nothing stands beside it.
func (a *analysis) addList(f *fielder, list []word, alone bool) {
	if len(list) == 0 && alone && f.b.Len() == 0 {
		f.open = false
	}
	for i, w := range list {
		if i > 0 {
			f.end()
		}
		f.word(w)
	}
}

func (a *analysis) quotedPart(f *fielder, p syntax.WordPart, sc *scope) {
	switch p := p.(type) {
	case *syntax.Lit:
		f.add(unescape(p.Value, "$`\"\\\n"))
	case *syntax.SglQuoted:
		f.singleQuoted(p)
	case *syntax.ParamExp:
		if held, ok := literalQuotes(p); ok {
			a.innerQuotes(f, p, held, sc)
			return
		}
		a.expanded(f, p, sc, false)
	case *syntax.DblQuoted:
		a.quoted(f, p, sc)
	default:
		a.expanded(f, p, sc, false)
	}
}

// expanded adds what a "$…" part stands for.
func (a *analysis) expanded(f *fielder, p syntax.WordPart, sc *scope, split bool) {
	var w word
	switch p := p.(type) {
	case *syntax.ParamExp:
		if list, _, ok := a.list(p, sc); ok && split {
			for i, w := range list {
				if i > 0 {
					f.end()
				}
				f.split(w, sc.ifs())
			}
			return
		}
		w = a.parameter(p, sc)
		w.known = w.known && !(split && quotesBlanks(p))
	case *syntax.CmdSubst:
		w = a.substitution(p, sc)
	case *syntax.ArithmExp:
		w = a.arithmetic(p.X, sc)
	case *syntax.ProcSubst:
		w = a.process(p, sc)
	default:
		w = word{text: "$(…)"}
	}
	if !a.spend(1 + len(w.text)/64) {
		w = word{text: "$…", Taint: w.Taint}
	}
	if split {
		f.split(w, sc.ifs())
		return
	}
	f.word(w)
}

func (s *scope) ifs() string {
	if v, ok := s.vars["IFS"]; ok && v.known() && len(v.list) > 0 {
		return v.list[0].text
	}
	return " \t\n"
}

// substitution is what $(…) stands for.
func (a *analysis) substitution(p *syntax.CmdSubst, sc *scope) word {
	a.feature(value.FeatureCommandSubstitution)
	if p.Backquotes && holdsBackquote(p) { // it may end there
		a.hide()
	}
	from := len(a.calls)
	inner := sc.fork()
	inner.open = inner.open.without(output)
	out := a.statements(p.Stmts, inner, stream{}).out
	a.captured(from)
	a.whole(out)
	if w, ok := a.freshName(p); ok {
		return w
	}
	if out.present && !out.known {
		return word{text: "$(…)", items: oneOf(out.items), Taint: out.Taint}
	}
	return word{text: strings.TrimRight(strings.ReplaceAll(out.text, "\x00", ""), "\n"), known: true, Taint: out.Taint}
}

// holdsBackquote says that a text between backquotes has one more, in quotes or in a document.
func holdsBackquote(p *syntax.CmdSubst) (holds bool) {
	for _, s := range p.Stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.SglQuoted:
				holds = holds || strings.Contains(n.Value, "`")
			case *syntax.Lit:
				holds = holds || strings.Contains(n.Value, "`")
			}
			return !holds
		})
	}
	return holds
}

// whole has what a stream leaves out hide what the text does, where its words count. They depend on the file that it is
// from.
func (facts *sink) whole(s stream) {
	if s.over {
		facts.hide()
	}
	if s.file != "" {
		facts.sought = add(facts.sought, s.file)
	}
}

// process is what <(…) or >(…) stands for.
func (a *analysis) process(p *syntax.ProcSubst, sc *scope) word {
	a.feature(value.FeatureProcessSubstitution)
	if p.Op == syntax.CmdOut {
		a.statements(p.Stmts, sc.fork(), unknown(a.feed))
		return word{text: ">(…)"}
	}
	from := len(a.calls)
	out := a.statements(p.Stmts, sc.fork(), stream{}).out
	a.captured(from)
	out.present = true
	return word{text: "<(…)", Taint: out.Taint, source: &out}
}
