package grammars

import (
	"cmp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// cmake is a toolbox behind -E: its tools are read as the programs that they stand for.
func (rd *Reader) cmake(name string, inv *call.Invocation, _ *call.Arguments) (call.Result, bool) {
	words := inv.Argv[1:]
	if len(words) < 2 || words[0].Text != "-E" {
		return call.Result{}, false
	}
	tool, rest := words[1].Text, words[2:]
	if tool == "chdir" && len(rest) > 1 {
		in := *inv
		in.Scope = rd.ScopeIn(rest[0], inv.Scope)
		return rd.Inner(name, &in, rest[1:]), true
	}
	var argv []word.Word
	for _, text := range strings.Fields(cmp.Or(cmakeTools[tool], tool)) {
		argv = append(argv, word.Of(text))
	}
	return rd.Inner(name, inv, append(argv, rest...)), true
}

// cmakeTools are the calls that do what tools of cmake do; other tools have a program's name.
var cmakeTools = map[string]string{
	"compare_files":               "cmp",
	"copy":                        "cp",
	"copy_directory":              "cp -r",
	"copy_directory_if_different": "cp -r",
	"copy_if_different":           "cp",
	"create_hardlink":             "ln",
	"create_symlink":              "ln -s",
	"make_directory":              "mkdir -p",
	"remove":                      "rm",
	"remove_directory":            "rm -r",
	"rename":                      "mv",
	"touch_nocreate":              "touch -c",
}
