package facts

import (
	"slices"
	"strings"
	"testing"
)

// foundCase is a text with what was found in the files that it runs, and what of it is to be
// seen.
type foundCase struct {
	text  string
	files Contents
	// call is the beginning of a call that the text leads to, none where it is empty.
	call     string
	complete bool
}

// recent and settled are files that the session may have made, and others.
func recent(text string) Content  { return Content{Text: text, Known: true, Recent: true} }
func settled(text string) Content { return Content{Text: text, Known: true} }

func TestWhatStandsInFilesThatRunIsRead(t *testing.T) {
	const removal = "rm -rf ~"
	foundCases(t, map[string]foundCase{
		"a script of a shell":            {"bash x.sh", Contents{"/w/x.sh": recent(removal)}, removal, true},
		"a script by its path":           {"./x.sh", Contents{"/w/x.sh": recent("#!/bin/sh\n" + removal)}, removal, true},
		"a script without a first line":  {"./x.sh", Contents{"/w/x.sh": recent(removal)}, removal, true},
		"a script that is sourced":       {". ./x.sh", Contents{"/w/x.sh": recent(removal)}, removal, true},
		"a script as standard input":     {"bash < x.sh", Contents{"/w/x.sh": recent(removal)}, removal, true},
		"a script through a pipe":        {"cat x.sh | sh", Contents{"/w/x.sh": recent(removal)}, removal, true},
		"a script that another one runs": {"sh a.sh", Contents{"/w/a.sh": recent("sh b.sh"), "/w/b.sh": recent(removal)}, removal, true},
		"a script with its argument":     {"sh a.sh ~", Contents{"/w/a.sh": recent("rm -rf $1")}, removal, true},
		"a makefile":                     {"make", Contents{"/w/Makefile": recent("all:\n\t" + removal + "\n")}, removal, true},
		"a goal of a makefile": {"make x",
			Contents{"/w/Makefile": settled("all:\n\techo\nx:\n\t" + removal + "\n")}, removal, true},
		"another goal of a makefile": {"make all", Contents{"/w/Makefile": recent("all:\n\techo\nx:\n\t" + removal + "\n")}, "", true},
		"a script of a project": {"npm test",
			Contents{"/w/package.json": recent(`{"scripts": {"test": "` + removal + `"}}`)}, removal, true},
		"another script of a project": {"npm run b",
			Contents{"/w/package.json": recent(`{"scripts": {"test": "` + removal + `"}}`)}, "", true},
		"Python that starts a program": {"python3 x.py",
			Contents{"/w/x.py": recent("import os\nos.system('" + removal + "')")}, removal, true},
		"Python by its first line": {"./x.py",
			Contents{"/w/x.py": recent("#!/usr/bin/env python3\nimport os\nos.system('" + removal + "')")}, removal, true},
		"Python that only computes":       {"python3 x.py", Contents{"/w/x.py": recent("print(1 + 1)")}, "", true},
		"Python that is not told":         {"python3 x.py", Contents{"/w/x.py": recent("import sys\nexec(sys.argv[1])")}, "", false},
		"old Python that is not told":     {"python3 x.py", Contents{"/w/x.py": settled("import sys\nexec(sys.argv[1])")}, "", true},
		"a script that is not told":       {"sh x.sh", Contents{"/w/x.sh": recent(`eval "$X"`)}, "", false},
		"an old script that is not told":  {"sh x.sh", Contents{"/w/x.sh": settled(`eval "$X"`)}, "", true},
		"an old script is read":           {"sh x.sh", Contents{"/w/x.sh": settled(`eval "$X"; ` + removal)}, removal, true},
		"a language that is not read":     {"node x.js", Contents{"/w/x.js": recent("run(x)")}, "", false},
		"the same in an old file":         {"node x.js", Contents{"/w/x.js": settled("console.log(1)")}, "", true},
		"a recent file that is too large": {"sh x.sh", Contents{"/w/x.sh": {Recent: true}}, "", false},
		"an old file that is too large":   {"sh x.sh", Contents{"/w/x.sh": {}}, "", true},
		"a script that runs itself":       {"sh x.sh", Contents{"/w/x.sh": recent("sh x.sh; ls")}, "ls", true},
		"a young script of an old one":    {"sh a.sh", Contents{"/w/a.sh": settled(". ./b.sh"), "/w/b.sh": recent(`eval "$X"`)}, "", false},
		"an old script of a young one":    {"sh a.sh", Contents{"/w/a.sh": recent(". ./b.sh"), "/w/b.sh": settled(`eval "$X"`)}, "", true},
		"a file that nothing runs":        {"cat x.sh", Contents{"/w/x.sh": recent(removal)}, "", true},
	})
}

func foundCases(t *testing.T, cases map[string]foundCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Shell(c.text, Place{Workdir: "/w", Home: "/home/a", Contents: &c.files})
			if got.Complete != c.complete {
				t.Errorf("complete is %t, want %t", got.Complete, c.complete)
			}
			led := slices.ContainsFunc(got.Calls, func(call Call) bool { return strings.HasPrefix(strings.Join(call.Argv, " "), "rm") })
			if want := strings.HasPrefix(c.call, "rm"); led != want {
				t.Errorf("calls are %v, want one of %q: %t", got.Calls, c.call, want)
			}
		})
	}
}

func TestFilesThatAPatternOrAFolderOfTheTextNamesAreRead(t *testing.T) {
	const removal = "rm -rf ~"
	young := Contents{"/w/x.sh": recent(removal)}
	foundCases(t, map[string]foundCase{
		"each file of a loop":              {`for f in *.sh; do sh "$f"; done`, young, removal, true},
		"each file that a loop sources":    {`for f in ./*.sh; do . "$f"; done`, young, removal, true},
		"each file that a loop starts":     {`for f in ./*.sh; do "$f"; done`, young, removal, true},
		"each file for another language":   {`for f in *.js; do node "$f"; done`, Contents{"/w/x.js": recent("run(x)")}, "", false},
		"each program of a loop":           {`for f in *.py; do python3 "$f"; done`, Contents{"/w/x.py": recent("print(1)")}, "", true},
		"a loop that only looks":           {`for f in *.sh; do shellcheck "$f"; done`, young, "", true},
		"a loop over nothing young":        {`for f in *.sh; do sh "$f"; done`, Contents{}, "", true},
		"a loop over old files":            {`for f in *.js; do node "$f"; done`, Contents{"/w/x.js": settled("1")}, "", true},
		"above a folder of the text":       {"mkdir d; cd d; sh ../x.sh", young, removal, true},
		"above two folders of the text":    {"mkdir -p d/e && cd d/e && sh ../../x.sh", young, removal, true},
		"above a folder that is there":     {"cd d; sh ../x.sh", Contents{"/w/d/../x.sh": recent(removal)}, removal, true},
		"lines that sed runs":              {"sed e x.sh", young, "", false},
		"lines that sed runs, of some":     {"sed -n '/x/{e\n}' x.sh", young, "", false},
		"words of sed that end in e":       {"sed -e 's/a/e/' -e '/a/d' x.sh", young, "", true},
		"what a young program deletes":     {"python3 x.py", Contents{"/w/x.py": recent("import shutil\nshutil.rmtree('/w/a')")}, "", true},
		"a program of a file is no answer": {"python3 x.py", Contents{"/w/x.py": recent("print(1)")}, "", true},
	})
	const deletes = "import shutil\nshutil.rmtree('/w/a')"
	for _, c := range []struct {
		file Content
		want bool
	}{{recent(deletes), true}, {settled(deletes), false}} {
		got := Shell("python3 x.py", Place{Workdir: "/w", Contents: &Contents{"/w/x.py": c.file}})
		if told := got.Code != nil && slices.Contains(got.Code.Calls, "shutil.rmtree"); told != c.want {
			t.Errorf("of a program in a file (recent: %t) it is told that it deletes: %t, want %t", c.file.Recent, told, c.want)
		}
	}
}
