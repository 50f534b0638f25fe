package state

import (
	"slices"
	"strconv"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Variable is what a name stands for: one word, or a list of them.
type Variable struct {
	List  []word.Word
	Array bool
	// Keys are those of the elements, where the text assigned some by their keys.
	Keys []string
	// Lost marks a variable that the text assigned to something unknown, Unset one that it unset.
	Lost, Unset bool
	// ReadOnly marks one that the text made read-only, Integer one that takes numbers only.
	ReadOnly, Integer bool
}

// IsKnown says that the text tells all that a variable holds.
func (v Variable) IsKnown() bool {
	return !v.Lost && !slices.ContainsFunc(v.List, func(w word.Word) bool { return !w.Known })
}

// With is a variable with one element more. Those with the same key are kept, since the
// text may not tell which of them is the last.
func (v Variable) With(key, w word.Word) Variable {
	keys := slices.Clip(v.Keys)
	for i := len(keys); i < len(v.List); i++ {
		keys = append(keys, strconv.Itoa(i))
	}
	if !key.Known {
		key.Text = "$"
	}
	return Variable{List: append(slices.Clip(v.List), w), Keys: append(keys, key.Text), Array: true, Lost: v.Lost}
}

// scalar is what the name alone stands for: of an array its first element, which may have been assigned anew.
func (v Variable) scalar(name string) word.Word {
	first := []word.Word{v.List[0]}
	for i, key := range v.Keys {
		if i > 0 && (key == "0" || key == "$") {
			first = append(first, v.List[i])
		}
	}
	if len(first) == 1 {
		return v.List[0]
	}
	return word.Word{Text: "$" + name, Items: first}
}

// after is a variable as it is once it has been assigned to one that was declared so: what is read-only keeps its value and ends
// the line, and what takes numbers evaluates what it is given.
func (v Variable) after(old Variable) Variable {
	v.ReadOnly, v.Integer = v.ReadOnly || old.ReadOnly, v.Integer || old.Integer
	if old.ReadOnly || v.Integer && slices.ContainsFunc(v.List, func(w word.Word) bool { return !word.IsNumber(w.Text) }) {
		v.List, v.Lost = nil, true
	}
	return v
}

func (v Variable) equal(w Variable) bool {
	return v.Lost == w.Lost && v.Unset == w.Unset && v.Array == w.Array && v.ReadOnly == w.ReadOnly && v.Integer == w.Integer &&
		slices.Equal(v.Keys, w.Keys) && slices.EqualFunc(v.List, w.List,
		func(x, y word.Word) bool { return x.Text == y.Text && x.Known == y.Known && x.Taint == y.Taint })
}
