package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// foldersIn are those that a variable of the text names, between colons.
func (b *budget) foldersIn(variable string, sc *scope) []word {
	v, set := b.value(variable, sc)
	if !set {
		return nil
	}
	var folders []word
	for _, text := range strings.Split(v.text, ":") {
		if text == "" {
			text = "."
		}
		folder := part(v, text)
		folder.home = text == "~" || strings.HasPrefix(text, "~/")
		folders = append(folders, folder)
	}
	return folders
}

// empty is a variable that is declared without a value.
func empty(array bool) variable {
	if array {
		return variable{array: true}
	}
	return variable{list: []word{known("")}}
}

// with is a variable with one element more. Those with the same key are kept, since the
// text may not tell which of them is the last.
func (v variable) with(key, w word) variable {
	keys := slices.Clip(v.keys)
	for i := len(keys); i < len(v.list); i++ {
		keys = append(keys, strconv.Itoa(i))
	}
	if !key.known {
		key.text = "$"
	}
	return variable{list: append(slices.Clip(v.list), w), keys: append(keys, key.text), array: true, lost: v.lost}
}

// value is a variable's value; set is false for a name the text did not assign.
func (b *budget) value(name string, sc *scope) (w word, set bool) {
	if v, ok := sc.vars[name]; ok {
		if v.lost || len(v.list) == 0 && !v.array {
			return word{text: "$" + name}, true
		}
		if len(v.list) == 0 {
			return known(""), true
		}
		return v.plain(name), true
	}
	if sc.full {
		b.hide()
		return word{text: "$" + name}, true
	}
	switch name {
	case "HOME":
		return word{text: "~", known: true, home: true}, false
	case "IFS":
		return known(" \t\n"), true
	case "PWD":
		return word{text: cmp.Or(sc.cwd, "$PWD"), known: sc.cwd != ""}, false
	case "SHELL", "BASH":
		return known("/bin/bash"), false
	}
	return special(name, sc)
}

// plain is what the name alone stands for: of an array its first element, which may have been assigned anew.
func (v variable) plain(name string) word {
	first := []word{v.list[0]}
	for i, key := range v.keys {
		if i > 0 && (key == "0" || key == "$") {
			first = append(first, v.list[i])
		}
	}
	if len(first) == 1 {
		return v.list[0]
	}
	return word{text: "$" + name, items: first}
}

// special is the value of $1, $#, $? and their like.
func special(name string, sc *scope) (w word, set bool) {
	shown := word{text: "$" + name}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 && sc.name.text != "":
			return sc.name, true
		case n == 0:
			return known("bash"), true
		case !sc.argsKnown:
			return shown, true
		case n <= len(sc.args):
			return sc.args[n-1], true
		}
		return known(""), true
	}
	switch name {
	case "@", "*":
		if !sc.argsKnown {
			return shown, true
		}
		return join(sc.args, " "), true
	case "#":
		return word{text: strconv.Itoa(len(sc.args)), known: sc.argsKnown}, true
	case "?", "$", "!", "-", "_", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "OLDPWD", "REPLY", "OPTARG", "OPTIND":
		return shown, true
	}
	return shown, false
}

// variable is what a name stands for: one word, or a list of them.
type variable struct {
	list  []word
	array bool
	// keys are those of the elements, where the text assigned some by their keys.
	keys []string
	// lost marks a variable that the text assigned to something unknown, gone one that it unset.
	lost, gone bool
	// fixed marks one that the text made read-only, number one that takes numbers only.
	fixed, number bool
}

// after is a variable as it is once it has been assigned to one that was declared so: what is read-only keeps its value and ends
// the line, and what takes numbers evaluates what it is given.
func (v variable) after(old variable) variable {
	v.fixed, v.number = v.fixed || old.fixed, v.number || old.number
	if old.fixed || v.number && slices.ContainsFunc(v.list, func(w word) bool { return !isNumber(w.text) }) {
		v.list, v.lost = nil, true
	}
	return v
}

func (v variable) equal(w variable) bool {
	return v.lost == w.lost && v.gone == w.gone && v.array == w.array && v.fixed == w.fixed && v.number == w.number &&
		slices.Equal(v.keys, w.keys) && slices.EqualFunc(v.list, w.list,
		func(x, y word) bool { return x.text == y.text && x.known == y.known && x.Taint == y.Taint })
}

func (v variable) known() bool {
	return !v.lost && !slices.ContainsFunc(v.list, func(w word) bool { return !w.known })
}
