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
	if !sc.Has(variable) && !sc.full {
		return nil
	}
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

// argument is the value of $1 and its like.
func argument(n int, shown word.Word, sc *Scope) word.Word {
	switch {
	case n == 0 && sc.Name.Text != "":
		return sc.Name
	case n == 0:
		return word.Of("bash")
	case !sc.ArgsKnown:
		return shown
	case n <= len(sc.Args):
		return sc.Args[n-1]
	}
	return word.Of("")
}

// special is the value of $1, $#, $? and their like.
func special(name string, sc *Scope) (w word.Word, set bool) {
	shown := word.Word{Text: "$" + name}
	if strings.IndexAny(name, "0123456789+-") == 0 {
		if n, err := strconv.Atoi(name); err == nil {
			return argument(n, shown, sc), true
		}
	}
	switch name {
	case "@", "*":
		if !sc.ArgsKnown {
			return shown, true
		}
		return word.Join(sc.Args, " "), true
	case "#":
		return word.Word{Text: strconv.Itoa(len(sc.Args)), Known: sc.ArgsKnown}, true
	}
	return shown, IsOfShell(name)
}

// IsOfShell says that the shell itself gives a variable its value.
func IsOfShell(name string) bool { return slices.Contains(ofShell, name) }

var ofShell = []string{"?", "$", "!", "-", "_", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "OLDPWD", "REPLY", "OPTARG", "OPTIND"}
