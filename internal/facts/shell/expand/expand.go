// Package expand turns the words of a parsed text into values, as bash would: parameters and operations on them, arithmetic,
// elements of arrays, braces, quotes, and the splitting into fields.
//
// Of the text around a word it asks two things, by the interface Surroundings: what a substitution writes, and whether the name of a
// program has another meaning. What is promised: what bash evaluates once more, and what versions of bash read otherwise, hides what
// the text does or is unknown.
//
// Not here: wildcards, which stay as they are, and the files that words name.
package expand

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Expander expands words of a text to values.
type Expander struct {
	*state.Sink
	Surroundings
	// home is the home folder, empty where that is not told.
	home string
	// Feed is where the input of the command being expanded comes from: what ">(…)" gets is
	// at best that.
	Feed value.Taint
	// Temps counts the folders that the text has made under names of their own.
	Temps int
}

// Surroundings are what the text around a word knows.
type Surroundings interface {
	// Substitute reads commands for which a word stands; the value is what they write.
	Substitute(stmts []*syntax.Stmt, sc *state.Scope, in word.Stream) word.Stream
	// Redefines says that the text gave the name of a program another meaning.
	Redefines(program string) bool
}

// New expands words of a text around which stands another.
func New(facts *state.Sink, around Surroundings, home string) Expander {
	return Expander{Sink: facts, Surroundings: around, home: home}
}

// Fields expands words as the arguments of a command.
func (ex *Expander) Fields(words []*syntax.Word, sc *state.Scope) []word.Word {
	out := make([]word.Word, 0, len(words))
	for _, w := range words {
		for _, b := range ex.braces(w) {
			f := newFielder()
			ex.parts(f, b.Parts, sc, true)
			for _, w := range ex.fieldsOf(f) {
				out = append(out, w.Alternatives()...)
			}
			if !ex.Spend(1+len(f.out)) || len(out) > word.MaxFields {
				ex.Complete = false
				return out
			}
		}
	}
	return out
}

func (ex *Expander) braces(w *syntax.Word) []*syntax.Word {
	if lit, ok := w.Parts[0].(*syntax.Lit); len(w.Parts) == 1 && ok && !strings.Contains(lit.Value, "{") {
		return []*syntax.Word{w}
	}
	if openBraces(w) > state.MaxNesting {
		ex.Complete = false
		return []*syntax.Word{w}
	}
	if !syntax.SplitBraces(w) && !hasBraces(w) {
		return []*syntax.Word{w}
	}
	var out []*syntax.Word
	for b, err := range expand.BracesSeq(nil, w) {
		if err != nil || len(out) >= word.MaxFields || !ex.Spend(1+len(b.Parts)) {
			ex.Complete = false
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

func hasBraces(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if _, ok := p.(*syntax.BraceExp); ok {
			return true
		}
	}
	return false
}

// Word expands a word that the shell does not split, such as an assigned value.
func (ex *Expander) Word(w *syntax.Word, sc *state.Scope) word.Word {
	if w == nil {
		return word.Of("")
	}
	f := newFielder()
	ex.parts(f, w.Parts, sc, false)
	f.open = true
	return word.Join(ex.fieldsOf(f), " ")
}

// Document expands a here-document's body.
func (ex *Expander) Document(w *syntax.Word, sc *state.Scope) word.Word {
	if w == nil {
		return word.Of("")
	}
	f := newFielder()
	for _, p := range w.Parts {
		ex.quotedPart(f, p, sc)
	}
	f.open = true
	return word.Join(ex.fieldsOf(f), "")
}

// fieldsOf are the fields of a word. What was left out of them hides what the text does.
func (ex *Expander) fieldsOf(f *fielder) []word.Word {
	f.end()
	if f.over {
		ex.Hide()
	}
	return f.out
}

// parts expands unquoted parts; split says whether what variables hold is split.
func (ex *Expander) parts(f *fielder, parts []syntax.WordPart, sc *state.Scope, split bool) {
	defer ex.Enter()()
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			ex.bare(f, p.Value, i == 0, sc)
		case *syntax.SglQuoted:
			f.singleQuotes(p)
		case *syntax.DblQuoted:
			f.open = true
			ex.quotes(f, p, sc)
		case *syntax.ExtGlob:
			f.add(p.Op.String() + quoteRemover.Replace(p.Pattern.Value) + ")")
			f.cur.Glob = true
		case *syntax.BraceExp:
			f.hole("{…}", value.Taint{})
		default:
			ex.expansion(f, p, sc, split)
		}
	}
}

// quoteRemover drops the quotes inside an extended pattern.
var quoteRemover = strings.NewReplacer(`\`, "", `"`, "", "'", "")

// bare adds unquoted text.
func (ex *Expander) bare(f *fielder, s string, first bool, sc *state.Scope) {
	if first && (s == "~" || strings.HasPrefix(s, "~/")) {
		home, _ := ex.Value("HOME", sc)
		f.word(home)
		s = s[1:]
	}
	if first && (s == "~+" || strings.HasPrefix(s, "~+/")) {
		folder, _ := ex.Value("PWD", sc)
		f.word(folder)
		s = s[2:]
	}
	if first && (s == "~-" || strings.HasPrefix(s, "~-/")) {
		if folder, set := ex.Value("OLDPWD", sc); set {
			f.word(folder)
			s = s[2:]
		}
	}
	if strings.ContainsAny(s, "*?[") {
		f.cur.Glob = f.cur.Glob || word.HasWildcard(s)
	}
	f.add(word.Unescape(s, ""))
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
func (ex *Expander) innerQuotes(f *fielder, p *syntax.ParamExp, held string, sc *state.Scope) {
	w := ex.parameter(p, sc)
	if strings.ContainsAny(held, "$`\\}\"") {
		ex.Hide()
	}
	f.hole("${…}", w.Taint)
}

func (ex *Expander) quotes(f *fielder, q *syntax.DblQuoted, sc *state.Scope) {
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
			f.word(sc.Join(list, sign))
		default:
			ex.addList(f, list, len(q.Parts) == 1)
		}
	}
}

// addList adds what "$@" and "${a[@]}" stand for in quotes: several fields, or none where nothing stands beside it.
func (ex *Expander) addList(f *fielder, list []word.Word, alone bool) {
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

func (ex *Expander) quotedPart(f *fielder, p syntax.WordPart, sc *state.Scope) {
	switch p := p.(type) {
	case *syntax.Lit:
		f.add(word.Unescape(p.Value, "$`\"\\\n"))
	case *syntax.SglQuoted:
		f.singleQuotes(p)
	case *syntax.ParamExp:
		if held, ok := literalQuotes(p); ok {
			ex.innerQuotes(f, p, held, sc)
			return
		}
		ex.expansion(f, p, sc, false)
	case *syntax.DblQuoted:
		ex.quotes(f, p, sc)
	default:
		ex.expansion(f, p, sc, false)
	}
}

// expansion adds what a "$…" part stands for.
func (ex *Expander) expansion(f *fielder, p syntax.WordPart, sc *state.Scope, split bool) {
	var w word.Word
	switch p := p.(type) {
	case *syntax.ParamExp:
		if list, _, ok := ex.list(p, sc); ok && split {
			for i, w := range list {
				if i > 0 {
					f.end()
				}
				f.split(w, sc.IFS())
			}
			return
		}
		w = ex.parameter(p, sc)
		w.Known = w.Known && !(split && quotesBlanks(p))
	case *syntax.CmdSubst:
		w = ex.substitution(p, sc)
	case *syntax.ProcSubst:
		w = ex.process(p, sc)
	case *syntax.ArithmExp:
		w = ex.arithmetic(p.X, sc)
	default:
		w = word.Word{Text: "$(…)"}
	}
	if !ex.Spend(1 + len(w.Text)/64) {
		w = word.Word{Text: "$…", Taint: w.Taint}
	}
	if split {
		f.split(w, sc.IFS())
		return
	}
	f.word(w)
}
