package shell

import (
	"cmp"
	"strings"
)

// cmake is a toolbox behind -E: its tools are read as the programs that they stand for.
func (rd *reader) cmake(name string, inv *invocation, _ *arguments) (result, bool) {
	words := inv.argv[1:]
	if len(words) < 2 || words[0].text != "-E" {
		return result{}, false
	}
	tool, rest := words[1].text, words[2:]
	if tool == "chdir" && len(rest) > 1 {
		in := *inv
		in.sc = rd.standing(rest[0], inv.sc)
		return rd.inner(name, &in, rest[1:]), true
	}
	var argv []word
	for _, text := range strings.Fields(cmp.Or(cmakeTools[tool], tool)) {
		argv = append(argv, known(text))
	}
	return rd.inner(name, inv, append(argv, rest...)), true
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
