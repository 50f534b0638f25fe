package facts

import (
	"slices"
	"testing"
)

func TestModulesThatAProgramImportsAreRead(t *testing.T) {
	const removal = "rm -rf ~"
	module := Content{Text: "import os\nos.system('" + removal + "')", Known: true, Recent: true}
	for name, c := range map[string]struct {
		code, file string
		reads      bool
	}{
		"a module":                 {"import m", "/w/m.py", true},
		"a package":                {"from k import m", "/w/k/__init__.py", true},
		"a module of a package":    {"import k.m", "/w/k/m.py", true},
		"one imported by its name": {"import importlib\nimportlib.import_module('m')", "/w/m.py", true},
		"in place of the standard": {"import json", "/w/json.py", true},
		"what is always there":     {"import sys, os", "/w/sys.py", false},
		"another file":             {"import m", "/w/n.py", false},
	} {
		unread := Python(c.code, Place{Workdir: "/w"})
		if sought := unread.Command != nil && slices.Contains(unread.Command.Opens, c.file); sought != c.reads {
			t.Errorf("%s: %s is looked for: %v, want %v", name, c.file, sought, c.reads)
		}
		contents := Contents{c.file: module}
		read := Python(c.code, Place{Workdir: "/w", Contents: &contents})
		runs := read.Command != nil && slices.ContainsFunc(read.Command.Calls, func(call Call) bool { return call.Program == "rm" })
		if runs != c.reads {
			t.Errorf("%s: what is in it is seen: %v, want %v", name, runs, c.reads)
		}
	}
}

func TestAModuleOfAPackageImportsFromWhereTheProgramLies(t *testing.T) {
	for text, file := range map[string]string{"import k.m": "/w/k/m.py", "from k import m": "/w/k/m.py", "from . import m": "/w/k/m.py",
		"from .m import x": "/w/k/m.py", "import m": "/w/m.py"} {
		contents := Contents{"/w/p.py": {Text: "from k import b", Known: true, Recent: true},
			"/w/k/b.py": {Text: text, Known: true, Recent: true},
			file:        {Text: "import os\nos.system('rm -rf ~')", Known: true, Recent: true}}
		c := Shell("python3 p.py", Place{Workdir: "/w", Contents: &contents})
		if !slices.ContainsFunc(c.Calls, func(call Call) bool { return call.Program == "rm" }) {
			t.Errorf("%s: what is in %s is not seen", text, file)
		}
	}
}

func TestAModuleThatHidesWhatItDoesHidesWhatTheProgramDoes(t *testing.T) {
	contents := Contents{"/w/m.py": {Text: "import sys\nexec(sys.argv[1])", Known: true, Recent: true}}
	if c := Python("import m", Place{Workdir: "/w", Contents: &contents}); c.Complete {
		t.Error("the program is complete")
	}
	if c := Python("import json", Place{Workdir: "/w"}); !c.Complete || c.Command == nil || len(c.Command.Calls) > 0 {
		t.Errorf("an ordinary program is %+v", c)
	}
}

func TestFilesAreKnownByTheNamesOfTheFolder(t *testing.T) {
	for text, want := range map[string]string{
		"sh /proc/self/cwd/p":   "/w/p",
		"sh ~+/p":               "/w/p",
		"cd a; sh ~+/p":         "/w/a/p",
		"python3 k":             "/w/k",
		`python3 -c "import m"`: "",
	} {
		c := Shell(text, Place{Workdir: "/w"})
		if want != "" && !slices.Equal(c.Files, []string{want}) {
			t.Errorf("%s runs %v, want %s", text, c.Files, want)
		}
	}
}

func TestAModuleThatTheTextWritesIsReadWhereverItStarts(t *testing.T) {
	for _, folder := range []string{"", "/w", "~/p"} {
		for _, text := range []string{"printf 'import os; os.system(\"rm -rf ~\")' > x.py; python3 -m x",
			"printf 'import os; os.system(\"rm -rf ~\")' > x.py; python3 -c 'import x'"} {
			c := Shell(text, Place{Workdir: folder})
			if !slices.ContainsFunc(c.Calls, func(call Call) bool { return call.Program == "rm" }) {
				t.Errorf("in %q %s: what is in the module is not seen", folder, text)
			}
		}
	}
}
