package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// FoldersIn are those that a variable of the text names, between colons.
func (b *Budget) FoldersIn(variable string, sc *Scope) []word.Word {
	v, set := b.Value(variable, sc)
	if !set {
		return nil
	}
	var folders []word.Word
	for _, text := range strings.Split(v.Text, ":") {
		if text == "" {
			text = "."
		}
		folder := word.Part(v, text)
		folder.Home = text == "~" || strings.HasPrefix(text, "~/")
		folders = append(folders, folder)
	}
	return folders
}

// EmptyVariable is a variable that is declared without a value.
func EmptyVariable(array bool) Variable {
	if array {
		return Variable{Array: true}
	}
	return Variable{List: []word.Word{word.Of("")}}
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

// Value is a variable's value; set is false for a name the text did not assign.
func (b *Budget) Value(name string, sc *Scope) (w word.Word, set bool) {
	if v, ok := sc.vars[name]; ok {
		if v.Lost || len(v.List) == 0 && !v.Array {
			return word.Word{Text: "$" + name}, true
		}
		if len(v.List) == 0 {
			return word.Of(""), true
		}
		return v.scalar(name), true
	}
	if sc.full {
		b.Hide()
		return word.Word{Text: "$" + name}, true
	}
	switch name {
	case "HOME":
		return word.Word{Text: "~", Known: true, Home: true}, false
	case "IFS":
		return word.Of(" \t\n"), true
	case "PWD":
		return word.Word{Text: cmp.Or(sc.Folder, "$PWD"), Known: sc.Folder != ""}, false
	case "SHELL", "BASH":
		return word.Of("/bin/bash"), false
	}
	return special(name, sc)
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

// special is the value of $1, $#, $? and their like.
func special(name string, sc *Scope) (w word.Word, set bool) {
	shown := word.Word{Text: "$" + name}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 && sc.Name.Text != "":
			return sc.Name, true
		case n == 0:
			return word.Of("bash"), true
		case !sc.ArgsKnown:
			return shown, true
		case n <= len(sc.Args):
			return sc.Args[n-1], true
		}
		return word.Of(""), true
	}
	switch name {
	case "@", "*":
		if !sc.ArgsKnown {
			return shown, true
		}
		return word.Join(sc.Args, " "), true
	case "#":
		return word.Word{Text: strconv.Itoa(len(sc.Args)), Known: sc.ArgsKnown}, true
	case "?", "$", "!", "-", "_", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "OLDPWD", "REPLY", "OPTARG", "OPTIND":
		return shown, true
	}
	return shown, false
}

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

// IsKnown says that the text tells all that a variable holds.
func (v Variable) IsKnown() bool {
	return !v.Lost && !slices.ContainsFunc(v.List, func(w word.Word) bool { return !w.Known })
}
