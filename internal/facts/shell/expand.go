package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// expander expands words of a text to values.
type expander struct {
	*budget
	*sink
	commands
	// home is the home folder, empty where that is not told.
	home string
	// feed is where the input of the command being expanded comes from: what ">(…)" gets is
	// at best that.
	feed value.Taint
	// fresh counts the folders that the text has made under names of their own.
	fresh int
}

// commands are those of the text around a word.
type commands interface {
	// run is what commands write that a word substitutes.
	run(stmts []*syntax.Stmt, sc *scope, in stream) stream
	// redefines says that the text gave the name of a program another meaning.
	redefines(program string) bool
}

func newExpander(b *budget, facts *sink, around commands, home string) *expander {
	return &expander{budget: b, sink: facts, commands: around, home: home}
}

// fields expands words as the arguments of a command.
func (ex *expander) fields(words []*syntax.Word, sc *scope) []word {
	out := make([]word, 0, len(words))
	for _, w := range words {
		for _, b := range ex.braces(w) {
			f := newFielder()
			ex.parts(f, b.Parts, sc, true)
			for _, w := range ex.ended(f) {
				out = append(out, w.stands()...)
			}
			if !ex.spend(1+len(f.out)) || len(out) > maxFields {
				ex.complete = false
				return out
			}
		}
	}
	return out
}

func (ex *expander) braces(w *syntax.Word) []*syntax.Word {
	if lit, ok := w.Parts[0].(*syntax.Lit); len(w.Parts) == 1 && ok && !strings.Contains(lit.Value, "{") {
		return []*syntax.Word{w}
	}
	if openBraces(w) > MaxNesting {
		ex.complete = false
		return []*syntax.Word{w}
	}
	if !syntax.SplitBraces(w) && !braced(w) {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for b, err := range expand.BracesSeq(nil, w) {
		if err != nil || len(out) >= maxFields || !ex.spend(1+len(b.Parts)) {
			ex.complete = false
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
func (ex *expander) single(w *syntax.Word, sc *scope) word {
	if w == nil {
		return known("")
	}
	f := newFielder()
	ex.parts(f, w.Parts, sc, false)
	f.open = true
	return join(ex.ended(f), " ")
}

// document expands a here-document's body.
func (ex *expander) document(w *syntax.Word, sc *scope) word {
	if w == nil {
		return known("")
	}
	f := newFielder()
	for _, p := range w.Parts {
		ex.quotedPart(f, p, sc)
	}
	f.open = true
	return join(ex.ended(f), "")
}

// ended are the fields of a word. What was left out of them hides what the text does.
func (ex *expander) ended(f *fielder) []word {
	f.end()
	if f.over {
		ex.hide()
	}
	return f.out
}

// parts expands unquoted parts; split says whether what variables hold is split.
func (ex *expander) parts(f *fielder, parts []syntax.WordPart, sc *scope, split bool) {
	defer ex.enter()()
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			ex.bare(f, p.Value, i == 0, sc)
		case *syntax.SglQuoted:
			f.singleQuoted(p)
		case *syntax.DblQuoted:
			f.open = true
			ex.quoted(f, p, sc)
		case *syntax.ExtGlob:
			f.add(p.Op.String() + unquoted.Replace(p.Pattern.Value) + ")")
			f.cur.glob = true
		case *syntax.BraceExp:
			f.hole("{…}", value.Taint{})
		default:
			ex.expanded(f, p, sc, split)
		}
	}
}

// unquoted drops the quotes inside an extended pattern.
var unquoted = strings.NewReplacer(`\`, "", `"`, "", "'", "")

// bare adds unquoted text.
func (ex *expander) bare(f *fielder, s string, first bool, sc *scope) {
	if first && (s == "~" || strings.HasPrefix(s, "~/")) {
		home, _ := ex.value("HOME", sc)
		f.word(home)
		s = s[1:]
	}
	if first && (s == "~+" || strings.HasPrefix(s, "~+/")) {
		folder, _ := ex.value("PWD", sc)
		f.word(folder)
		s = s[2:]
	}
	if first && (s == "~-" || strings.HasPrefix(s, "~-/")) {
		if folder, set := ex.value("OLDPWD", sc); set {
			f.word(folder)
			s = s[2:]
		}
	}
	if strings.ContainsAny(s, "*?[") {
		f.cur.glob = f.cur.glob || wild(s)
	}
	f.add(unescape(s, ""))
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
func (ex *expander) innerQuotes(f *fielder, p *syntax.ParamExp, held string, sc *scope) {
	w := ex.parameter(p, sc)
	if strings.ContainsAny(held, "$`\\}\"") {
		ex.hide()
	}
	f.hole("${…}", w.Taint)
}

func (ex *expander) quoted(f *fielder, q *syntax.DblQuoted, sc *scope) {
	for _, p := range q.Parts {
		pe, ok := p.(*syntax.ParamExp)
		if !ok {
			ex.quotedPart(f, p, sc)
			continue
		}
		switch list, sign, ok := ex.list(pe, sc); {
		case !ok:
			ex.quotedPart(f, p, sc)
		case sign == "*":
			f.word(sc.joined(list, sign))
		default:
			ex.addList(f, list, len(q.Parts) == 1)
		}
	}
}

// addList adds what "$@" and "${a[@]}" stand for in quotes: several fields, or none where nothing stands beside it.
func (ex *expander) addList(f *fielder, list []word, alone bool) {
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

func (ex *expander) quotedPart(f *fielder, p syntax.WordPart, sc *scope) {
	switch p := p.(type) {
	case *syntax.Lit:
		f.add(unescape(p.Value, "$`\"\\\n"))
	case *syntax.SglQuoted:
		f.singleQuoted(p)
	case *syntax.ParamExp:
		if held, ok := literalQuotes(p); ok {
			ex.innerQuotes(f, p, held, sc)
			return
		}
		ex.expanded(f, p, sc, false)
	case *syntax.DblQuoted:
		ex.quoted(f, p, sc)
	default:
		ex.expanded(f, p, sc, false)
	}
}

// expanded adds what a "$…" part stands for.
func (ex *expander) expanded(f *fielder, p syntax.WordPart, sc *scope, split bool) {
	var w word
	switch p := p.(type) {
	case *syntax.ParamExp:
		if list, _, ok := ex.list(p, sc); ok && split {
			for i, w := range list {
				if i > 0 {
					f.end()
				}
				f.split(w, sc.ifs())
			}
			return
		}
		w = ex.parameter(p, sc)
		w.known = w.known && !(split && quotesBlanks(p))
	case *syntax.CmdSubst:
		w = ex.substitution(p, sc)
	case *syntax.ArithmExp:
		w = ex.arithmetic(p.X, sc)
	case *syntax.ProcSubst:
		w = ex.process(p, sc)
	default:
		w = word{text: "$(…)"}
	}
	if !ex.spend(1 + len(w.text)/64) {
		w = word{text: "$…", Taint: w.Taint}
	}
	if split {
		f.split(w, sc.ifs())
		return
	}
	f.word(w)
}

// substitution is what $(…) stands for.
func (ex *expander) substitution(p *syntax.CmdSubst, sc *scope) word {
	ex.feature(value.FeatureCommandSubstitution)
	if p.Backquotes && holdsBackquote(p) { // it may end there
		ex.hide()
	}
	from := len(ex.calls)
	inner := sc.fork()
	inner.open = inner.open.without(output)
	out := ex.run(p.Stmts, inner, stream{})
	ex.captured(from)
	ex.whole(out)
	if w, ok := ex.freshName(p); ok {
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

// process is what <(…) or >(…) stands for.
func (ex *expander) process(p *syntax.ProcSubst, sc *scope) word {
	ex.feature(value.FeatureProcessSubstitution)
	if p.Op == syntax.CmdOut {
		ex.run(p.Stmts, sc.fork(), unknown(ex.feed))
		return word{text: ">(…)"}
	}
	from := len(ex.calls)
	out := ex.run(p.Stmts, sc.fork(), stream{})
	ex.captured(from)
	out.present = true
	return word{text: "<(…)", Taint: out.Taint, source: &out}
}
