package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// heldFile is a file with a text that runs it, or a program that loads it.
type heldFile struct {
	name, content, run, code string
	// beside are files that are there too, by their names, and links, with what they lead to.
	beside, links map[string]string
	// rule is of the finding that a question is about, none where the text just runs.
	rule string
	// denied says that it is denied instead.
	denied bool
}

// What the files would do stands behind "false", so that it is judged and never done.
func TestWhatStandsInAFileIsJudgedWhenALaterRequestRunsIt(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	const harm = "false && rm -rf ./precious\n"
	judgesHeld(t, o, map[string]heldFile{
		"a script":                   {name: "x.sh", content: harm, run: "bash x.sh", rule: "command.deletes_recursively"},
		"a script by its path":       {name: "x.sh", content: "#!/bin/sh\n" + harm, run: "./x.sh", rule: "command.deletes_recursively"},
		"a script as standard input": {name: "x.sh", content: harm, run: "sh < x.sh", rule: "command.deletes_recursively"},
		"a makefile": {name: "Makefile", content: "all:\n\t@" + harm,
			run: "make || true", rule: "command.deletes_recursively"},
		"a Python program": {name: "x.py", content: "import os\nif 0: os.system('rm -rf ./precious')\n", run: "python3 x.py",
			rule: "command.deletes_recursively"},
		"a compiled program":         {name: "a.out", content: "\x7fELF", run: "false && ./a.out", rule: "command.runs_unknown_program"},
		"a program that is not read": {name: "x.js", content: "run(x)\n", run: "node x.js", rule: "command.runs_unknown_program"},
		"a program that computes":    {name: "x.js", content: "console.log(1)\n", run: "false && node x.js"},
		"a script that hides what it does": {name: "x.sh", content: "false && eval \"$UNKNOWN\"\n", run: "sh x.sh",
			rule: "command.hides_meaning"},
		"a harmless script":         {name: "x.sh", content: "for f in *; do echo \"$f\"; done\n", run: "bash x.sh"},
		"a harmless Python program": {name: "x.py", content: "print(sum([1, 2]))\n", run: "python3 x.py"},
		"a harmless makefile":       {name: "Makefile", content: "all:\n\t@echo made\nclean:\n\t" + harm, run: "make"},
		"a file that nothing runs":  {name: "x.sh", content: harm, run: "cat x.sh"},
	})
}

// A copy, and a file that is found by a name, is judged as if it were run by its own name.
func TestWhatStandsInAFileIsJudgedByWhateverNameItRuns(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	const harm, deletes = "false && rm -rf ./precious\n", "command.deletes_recursively"
	const python = "import os\nif 0: os.system('rm -rf ./precious')\n"
	chain := map[string]string{}
	for i := range 40 {
		chain[fmt.Sprintf("%d.sh", i)] = fmt.Sprintf("sh %d.sh\n", i+1)
	}
	chain["40.sh"] = harm
	judgesHeld(t, o, map[string]heldFile{
		"a copy":                   {name: "x.sh", content: harm, run: "cp x.sh y.sh; bash y.sh", rule: deletes},
		"a copied folder":          {name: "x.sh", content: harm, run: "mkdir d && cp x.sh d && cp -r d e; bash e/x.sh", rule: deletes},
		"a link":                   {name: "x.sh", content: harm, run: "ln -s x.sh y.sh; sh y.sh", rule: deletes},
		"an edited file":           {name: "x.sh", content: "echo a\n", run: "sed -i s/a/b/ x.sh; sh x.sh", rule: "command.hides_meaning"},
		"a young compressed file":  {name: "x.gz", content: "z", run: "false && gunzip x.gz && sh x", rule: "command.hides_meaning"},
		"a program on the path":    {name: "x.sh", content: "#!/bin/sh\n" + harm, run: "PATH=.:$PATH x.sh", rule: deletes},
		"what a shell starts with": {name: "x.sh", content: harm, run: "BASH_ENV=./x.sh bash -c :", rule: deletes},
		"an included makefile": {name: "x.mk", content: "all:\n\t@" + harm,
			run: "make", rule: deletes, beside: map[string]string{"Makefile": "include x.mk\n"}},
		"an imported module": {name: "x.py", content: python,
			run: "python3 a.py", rule: deletes, beside: map[string]string{"a.py": "import x\n"}},
		"a module that is run":                        {name: "x.py", content: python, run: "python3 -m x", rule: deletes},
		"a module that a program in the text imports": {name: "x.py", content: python, run: "python3 -c 'import x'", rule: deletes},
		"a module that a program imports":             {name: "x.py", content: python, code: "import x", rule: deletes},
		"a module in place of a standard one":         {name: "json.py", content: python, run: "python3 -c 'import json'", rule: deletes},
		"a module that a standard one imports": {name: "re.py", content: python,
			run: "python3 -c 'import json; print(1)'", rule: deletes},
		"a module that a standard one imports by -m": {name: "argparse.py", content: python,
			run: "echo 1 | python3 -m json.tool", rule: deletes},
		"a standard module's name that nothing finds": {name: "d/re.py", content: python, run: "python3 -c 'import json; print(1)'"},
		"a file of the folder in which the shell is":  {name: "x.sh", content: harm, run: "sh ~+/x.sh", rule: deletes},
		"a file of the folder of a process":           {name: "x.sh", content: harm, run: "sh /proc/self/cwd/x.sh", rule: deletes},
		"tests that nothing names": {name: "test_x.py", content: python,
			run: "false && python3 -m unittest", rule: deletes},
		"tests of a folder": {name: "d/e/test_x.py", content: python,
			run: "false && python3 -m unittest discover -s d", rule: deletes},
		"a folder": {name: "k/__main__.py", content: python, run: "python3 k", rule: deletes},
		"a folder that is asked about for something else": {name: "k/__main__.py", content: "print(1)\n",
			run: "false && rm -r x; python3 k", rule: deletes},
		"a script of a program": {name: "q", content: harm,
			run: "python3 -c 'import os; os.system(\"sh q\")'", rule: deletes},
		"a script of a folder":                    {name: "d/q", content: "#!/bin/sh\n" + harm, run: "run-parts d", rule: deletes},
		"a script where a change of folder fails": {name: "q", content: harm, run: "cd nowhere 2>/dev/null; sh q", rule: deletes},
		"tests that are harmless": {name: "test_x.py", content: "import unittest\n\n\nclass A(unittest.TestCase):\n" +
			"    def test_a(self):\n        self.assertEqual(1 + 1, 2)\n", run: "python3 -m unittest"},
		"a folder that is harmless":      {name: "k/__main__.py", content: "print(1)\n", run: "python3 k"},
		"a harmless module of a program": {name: "x.py", content: "A = 1\n", code: "import json, x\nprint(x.A)"},
		"a harmless module of a text":    {name: "x.py", content: "A = 1\n", run: "python3 -c 'import json, x; print(x.A)'"},
		"what Python does itself": {name: "x.py", content: "import os, shutil\nif 0: shutil.rmtree(os.path.expanduser('~'))\n",
			run: "python3 x.py", denied: true},
		"a long chain of scripts": {name: "x.sh", content: "sh 0.sh\n", run: "sh x.sh", rule: "command.runs_unknown_program",
			beside: chain},
		"a harmless copy": {name: "x.sh", content: "echo a\n", run: "cp x.sh y.sh; bash y.sh"},
		"a harmless module": {name: "x.py", content: "A = 1\n",
			run: "python3 a.py", beside: map[string]string{"a.py": "import json, x\nprint(x.A)\n"}},
		"a harmless library": {name: "x.sh", content: "A=1\n",
			run: "bash a.sh", beside: map[string]string{"a.sh": ". ./x.sh\necho $A\n"}},
		"a file made executable":    {name: "x.sh", content: "#!/bin/sh\necho a\n", run: "chmod +x x.sh && ./x.sh"},
		"a copy that is only shown": {name: "x.sh", content: harm, run: "cp x.sh y.sh; cat y.sh"},
	})
}

// The first judgement of a request knows no file: all that a program finds must be named by then.
func TestWhatStandsInAFileIsJudgedWhereAProgramFindsIt(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	const harm, deletes, hides = "false && rm -rf ./precious\n", "command.deletes_recursively", "command.hides_meaning"
	const python = "import os\nif 0: os.system('rm -rf ./precious')\n"
	judgesHeld(t, o, map[string]heldFile{
		"above a folder":       {name: "x.sh", content: harm, run: "mkdir d; cd d; sh ../x.sh", rule: deletes},
		"what go generates":    {name: "x.go", content: "//go:generate " + harm, run: "false && go generate ./...", rule: deletes},
		"a task":               {name: "justfile", content: "a:\n  " + harm, run: "false && just", rule: deletes},
		"a setup":              {name: "setup.py", content: python, run: "false && pip install .", rule: deletes},
		"a builder's file":     {name: "Rakefile", content: "a\n", run: "false && rake", rule: hides},
		"settings that run":    {name: "vite.config.js", content: "a()\n", run: "false && npx vite build", rule: hides},
		"settings that name":   {name: "vite.config.js", content: "export default {a: 1}\n", run: "false && npx vite build"},
		"a test of Node's":     {name: "a.test.js", content: "run(x)\n", run: "false && node --test", rule: hides},
		"a test that compares": {name: "a.test.js", content: "test('a', () => { expect(1).toBe(1) })\n", run: "false && node --test"},
		"a source that runs": {name: "main.go", content: "package main\n\nimport _ \"os/exec\"\n", run: "false && go run .",
			rule: hides},
		"a rule of a builder":    {name: "build.ninja", content: "rule a\n  command = " + harm, run: "false && ninja", rule: deletes},
		"a makefile before":      {name: "x.mk", content: "all:\n\t" + harm, run: "false && MAKEFILES=x.mk make", rule: deletes},
		"a program of a project": {name: "node_modules/.bin/zz", content: "#!/bin/sh\n" + harm, run: "false && npx zz", rule: deletes},
		"a script of a project": {name: "package.json", content: `{"scripts": {"a": "rm -rf ./p"}}`,
			run: "false && yarn a", rule: deletes},
		"more commands":           {name: "x.sql", content: ".shell " + harm, run: "false && sqlite3 a.db '.read x.sql'", rule: deletes},
		"what Python deletes":     {name: "x.py", content: "import shutil\nif 0: shutil.rmtree('p')\n", run: "python3 x.py", rule: deletes},
		"a harmless task":         {name: "justfile", content: "test:\n  go test ./...\n", run: "false && just"},
		"a harmless generator":    {name: "x.go", content: "//go:generate stringer -type=A\n", run: "false && go generate"},
		"a harmless setup":        {name: "setup.py", content: "import setuptools\nsetuptools.setup()\n", run: "false && pip install ."},
		"a file that is not used": {name: "Rakefile", content: "a\n", run: "false && npx vite build"},
	})
}

// judgesHeld asks for what each file's text runs.
func judgesHeld(t *testing.T, o *office, cases map[string]heldFile) {
	t.Helper()
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(openDir(t), "project") // so that what else lies in the folder of temporary files is not above it
			path := filepath.Join(folder, f.name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755)) //nolint:gosec // any user runs it
			save(t, path, f.content)
			must(t, os.Chmod(path, 0o755)) //nolint:gosec // it is run
			for name, content := range f.beside {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755)) //nolint:gosec // any user runs it
				save(t, filepath.Join(folder, name), content)
			}
			for name, target := range f.links {
				must(t, os.Symlink(target, filepath.Join(folder, name)))
			}
			req := atTerminal(name, cmp.Or(f.run, "true"))
			req.WaitSeconds, req.Args.Workdir, req.Session.UserID = 0, folder, name
			a := ask(t, o.agent, req)
			if f.code != "" { // in the folder where the session is now
				req.Tool, req.Args = bailiff.ExecuteCode, bailiff.Args{Code: f.code}
				a = ask(t, o.agent, req)
			}
			if f.denied {
				wants(t, a, bailiff.Refused, "")
				return
			}
			if f.rule == "" {
				wants(t, a, bailiff.Completed, "")
				return
			}
			wants(t, a, bailiff.ApprovalRequired, "")
			if asked := reasons(a.Decision); !strings.Contains(asked, f.rule) {
				t.Errorf("asked about %s, want %s", asked, f.rule)
			}
		})
	}
}

// reasons are the rules that a decision asks about.
func reasons(d bailiff.Decision) string {
	var rules []string
	if d.Approval != nil {
		for _, r := range d.Approval.Reasons {
			rules = append(rules, r.Rule)
		}
	}
	return strings.Join(rules, " ")
}
