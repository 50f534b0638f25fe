package expand

import (
	"cmp"
	"regexp"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Restrict makes a variable read-only, or one that takes numbers only.
func (ex *Expander) Restrict(name string, fixed, number bool, sc *state.Scope) {
	v := sc.Variable(name)
	if v.List == nil && !v.Array {
		v.Lost = true
	}
	if number {
		ex.evaluates(v, sc)
	}
	v.ReadOnly, v.Integer = v.ReadOnly || fixed, v.Integer || number
	sc.Unset(name)
	sc.Set(name, v)
}

// Declaration assigns what one word of a declaration does, and is that word.
func (ex *Expander) Declaration(as *syntax.Assign, sc *state.Scope) word.Word {
	name := as.Name.Value
	if as.Naked && as.Index != nil {
		ex.key(as.Index, sc)
	}
	if as.Naked {
		return word.Of(name)
	}
	ex.ReadAssignment(as, sc)
	if as.Value != nil && len(ex.braces(as.Value)) > 1 { // each of them is assigned
		sc.Lose(name)
	}
	v, _ := ex.Value(name, sc)
	return word.Part(v, name+"="+v.Text)
}

// ReadAssignment reads name=value, name+=value, name=(…) and name[i]=value.
func (ex *Expander) ReadAssignment(as *syntax.Assign, sc *state.Scope) {
	name := as.Name.Value
	ex.Assigns = append(ex.Assigns, name)
	switch {
	case as.Index != nil:
		ex.element(as, sc)
	case as.Array != nil:
		sc.Set(name, ex.array(as, sc))
	default:
		w := ex.Word(as.Value, sc)
		if as.Append {
			old, _ := ex.Value(name, sc)
			w = word.Join([]word.Word{old, w}, "")
		}
		if len(w.Text) > word.MaxValue {
			ex.Hide()
			w = word.Word{Text: "$" + name, Taint: w.Taint}
		}
		w = ShownAs(w, name)
		if indexRuns.MatchString(w.Text) { // which the shell runs wherever it evaluates the variable
			ex.Hide()
		}
		if sc.Variable(name).Integer {
			ex.Calculate(w, sc)
		}
		ex.NoteSetting(name, w.Text)
		sc.Set(name, state.Variable{List: []word.Word{w}})
	}
}

// indexRuns is the index of an element with a command in it.
var indexRuns = regexp.MustCompile("\\w\\[[^\\]\n]*(\\$\\(|`)")

// ShownAs names an unknown value after its variable, unless it is what a file holds.
func ShownAs(w word.Word, name string) word.Word {
	if !w.Known && !(w.Read && w.Text == "$(…)") {
		w.Text = cmp.Or(partly(w.Text), "$"+name)
	}
	return w
}

// partly keeps a text that tells more than that something is substituted.
func partly(text string) string {
	if text == "$(…)" || text == "$((…))" {
		return ""
	}
	return text
}

func (ex *Expander) array(as *syntax.Assign, sc *state.Scope) state.Variable {
	v := state.Variable{Array: true}
	if as.Append {
		old := sc.Variable(as.Name.Value)
		v.List, v.Lost = slices.Clone(old.List), old.Lost
	}
	for _, e := range as.Array.Elems {
		if len(v.List) >= word.MaxFields {
			ex.Hide()
			break
		}
		if e.Index != nil {
			v = v.With(ex.key(e.Index, sc), ex.Word(e.Value, sc))
			continue
		}
		if e.Value != nil {
			v.List = append(v.List, ex.Fields([]*syntax.Word{e.Value}, sc)...)
		}
	}
	return v
}
