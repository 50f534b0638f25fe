package facts

import (
	"slices"
	"testing"
)

func TestFilesThatProgramsGatherByPatternsAreRead(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	python := recent("import os\nos.system('" + removal + "')")
	many := Content{Recent: true} // what a pattern is that matches too many
	foundCases(t, map[string]foundCase{
		"tests below the folder":     {"pytest -q", Contents{"/w/d/test_a.py": python}, removal, true},
		"tests with another ending":  {"python3 -m pytest", Contents{"/w/a_test.py": python}, removal, true},
		"tests of a folder":          {"pytest d/", Contents{"/w/d/e/test_a.py": python}, removal, true},
		"tests of another folder":    {"pytest d", Contents{"/w/e/test_a.py": python}, "", true},
		"what is beside a test":      {"pytest d/test_b.py", Contents{"/w/d/conftest.py": python}, removal, true},
		"harmless tests":             {"pytest", Contents{"/w/test_a.py": recent("def test_a():\n    assert 1\n")}, "", true},
		"no tests":                   {"pytest", Contents{"/w/tests.py": python}, "", true},
		"too many tests":             {"pytest", Contents{"/w/**/test_*.py": many}, "", false},
		"tests of the library":       {"python3 -m unittest", Contents{"/w/test_a.py": python}, removal, true},
		"tests that it discovers":    {"python3 -m unittest discover -s d", Contents{"/w/d/testing.py": python}, removal, true},
		"tests of Perl":              {"prove", Contents{"/w/t/a.t": recent("system('" + removal + "')")}, removal, false},
		"tests that the text writes": {"echo 'import os; os.system(\"" + removal + "\")' > test_a.py; pytest", nil, removal, true},
		"the programs of a folder":   {"run-parts d", Contents{"/w/d/q": recent("#!/bin/sh\n" + removal)}, removal, true},
		"makefiles of a pattern": {"make",
			Contents{"/w/Makefile": settled("-include *.mk\n"), "/w/x.mk": recent("all:\n\t" + removal)}, removal, true},
		"makefiles of a pattern, too many": {"make", Contents{"/w/Makefile": settled("-include *.mk\nall:\n"), "/w/*.mk": many}, "", false},
	})
}

func TestFoldersAndNamesThatProgramsCompleteAreRead(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	python, folder := recent("import os\nos.system('"+removal+"')"), Content{Folder: true}
	node := recent("require('child_process').execSync('" + removal + "')")
	program := func(name, text string, there Content) Contents {
		return Contents{"/w/a": settled(text), "/w/" + name: there}
	}
	foundCases(t, map[string]foundCase{
		"a folder of Python's": {"python3 k", Contents{"/w/k": folder, "/w/k/__main__.py": python}, removal, true},
		"the current folder":   {"python3 .", Contents{"/w": folder, "/w/__main__.py": python}, removal, true},
		"a module beside it": {"python3 k",
			Contents{"/w/k": folder, "/w/k/__main__.py": settled("import m"), "/w/k/m.py": python}, removal, true},
		"a package of Node's": {"node k", Contents{"/w/k": folder, "/w/k/index.js": node}, removal, false},
		"its file by another name": {"node .",
			Contents{"/w": folder, "/w/package.json": settled(`{"main": "b.js"}`), "/w/b.js": node}, removal, false},
		"a name without an ending":  {"node q", Contents{"/w/q.js": node}, removal, false},
		"a module before a program": {"node -r ./q a.js", Contents{"/w/q.js": node}, removal, false},
		"a module of a package":     {"python3 a", program("k/m.py", "from k import m", python), removal, true},
		"a module beside a program": {"python3 a", program("m.py", "from . import m", python), removal, true},
		"a module in another folder": {"python3 a",
			program("d/m.py", "import sys\nsys.path.insert(0, 'd')\nimport m", python), removal, true},
		"a member of the library": {"python3 a", program("json/m.py", "from json import m", python), "", true},
		"a program that runs a script": {"python3 a",
			program("q", "import subprocess\nsubprocess.run(['sh', 'q'])", recent(removal)), removal, true},
		"a program that runs itself": {"python3 a", Contents{"/w/a": settled("import os\nos.system('python3 a')")}, "", true},
		"a program that runs another": {"python3 a",
			program("q.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'q.py'])", python), removal, true},
		"a program by runpy":    {"python3 a", program("q.py", "import runpy\nrunpy.run_path('q.py')", python), removal, true},
		"a program by its text": {"python3 a", program("q.py", "exec(open('q.py').read())", python), removal, true},
		"a program by a path's text": {"python3 a",
			program("q.py", "import pathlib\nexec(pathlib.Path('q.py').read_text())", python), removal, true},
		"text that is no program's": {"python3 -c 'exec(open(\"q.txt\").read())'", nil, "", false},
		"a young script of an old program that hides": {"python3 a",
			program("q", "import subprocess\nsubprocess.run(['sh', 'q'])", recent(`eval "$X"`)), "", false},
		"an old script of it": {"python3 a",
			program("q", "import subprocess\nsubprocess.run(['sh', 'q'])", settled(`eval "$X"`)), "", true},
		"what Perl loads": {"perl a", program("q.pl", "require './q.pl';", recent("system('"+removal+"')")), removal, false},
		"what Ruby loads": {"ruby a", program("q.rb", "require_relative 'q'", recent("system('"+removal+"')")), removal, false},
	})
}

func TestFilesAreReadInTheFoldersWhereATextMayStand(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	here := Contents{"/w/q": recent(removal)}
	beside := func(text string) Contents {
		return Contents{"/w/d/a": settled(text), "/w/d/q": recent(removal)}
	}
	foundCases(t, map[string]foundCase{
		"a folder that was left":           {"cd a; sh ~-/q", here, removal, true},
		"the same by its variable":         {"cd a; sh $OLDPWD/q", here, removal, true},
		"back to it":                       {"cd /w/a; cd - >/dev/null; sh q", here, removal, true},
		"a change of folder that may fail": {"cd nowhere; sh q", here, removal, true},
		"the same before Python": {"cd nowhere; python3 q",
			Contents{"/w/q": recent("import os\nos.system('" + removal + "')")}, removal, true},
		"the same before a program":      {"cd nowhere; ./q", here, removal, true},
		"one that does not fail":         {"cd nowhere && sh q", here, "", true},
		"a folder that a variable tells": {"CDPATH=/w; cd a; sh q", nil, "", false},
		"the file's own folder":          {"bash d/a", beside(`. "$(dirname "$0")/q"`), removal, true},
		"the same as bash tells it":      {"bash d/a", beside(`. "${BASH_SOURCE[0]%/*}/q"`), removal, true},
		"the same by a change of folder": {"bash d/a",
			beside(`D="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"; . "$D/q"`), removal, true},
		"the same of a file that is sourced": {". d/a", beside(`. "${BASH_SOURCE%/*}/q"`), removal, true},
	})
}

func TestScriptsOfProjectsAreReadHoweverTheyAreStarted(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	project := func(scripts string) Content { return settled(`{"scripts": ` + scripts + `}`) }
	q := recent("#!/bin/sh\n" + removal)
	foundCases(t, map[string]foundCase{
		"one that runs another": {"npm test",
			Contents{"/w/package.json": project(`{"test": "npm run b", "b": "` + removal + `"}`)}, removal, true},
		"one that runs many": {"npm test",
			Contents{"/w/package.json": project(`{"test": "run-s b", "b": "` + removal + `"}`)}, removal, true},
		"one that runs itself": {"npm test", Contents{"/w/package.json": project(`{"test": "npm test"}`)}, "", true},
		"by another shell": {"npm test --script-shell ./q",
			Contents{"/w/package.json": project(`{"test": "echo"}`), "/w/q": q}, removal, true},
		"in a workspace": {"npm test --workspace=k",
			Contents{"/w/k/package.json": project(`{"test": "` + removal + `"}`)}, removal, true},
		"in a folder below": {"cd d && npm test", Contents{"/w/package.json": project(`{"test": "` + removal + `"}`)}, removal, true},
		"in a folder below, which has its own": {"cd d && npm test",
			Contents{"/w/package.json": project(`{"test": "` + removal + `"}`), "/w/d/package.json": project(`{}`)}, "", true},
		"a server without a script": {"npm start", Contents{"/w/package.json": project(`{}`),
			"/w/server.js": recent("require('child_process').execSync('" + removal + "')")}, removal, false},
		"by a shell of make's":     {"make SHELL=./q", Contents{"/w/Makefile": settled("all:\n\techo\n"), "/w/q": q}, removal, true},
		"by a shell of a makefile": {"make", Contents{"/w/Makefile": settled("SHELL = ./q\nall:\n\techo\n"), "/w/q": q}, removal, true},
		"by Python as make's shell": {"make", Contents{"/w/Makefile": settled(
			".ONESHELL:\nSHELL = python3\nall:\n\timport os\n\tos.system('" + removal + "')\n")}, removal, true},
		"by a usual shell": {"make", Contents{"/w/Makefile": settled("SHELL := /usr/bin/env bash\nall:\n\techo\n")}, "", true},
	})
}

// A young program that only computes, with what it loads, hides nothing, by any program that starts it.
func TestFilesThatOnlyComputeHideNothing(t *testing.T) {
	t.Parallel()
	file := func(name, text string) Contents { return Contents{"/w/" + name: recent(text)} }
	const sum = "export function add(a, b) { return a + b }\n"
	tests := Contents{"/w/sum.js": recent(sum),
		"/w/sum.test.js": recent("import { add } from './sum.js'\nimport { test, expect } from 'vitest'\n" +
			"test('adds', () => { expect(add(1, 2)).toBe(3) })\n")}
	with := func(text string) Contents {
		return Contents{"/w/a.js": recent("import { f } from './b.js'\nf()\n"), "/w/b.js": recent(text)}
	}
	foundCases(t, map[string]foundCase{
		"a program of Node's":           {"node a.js", file("a.js", "console.log(1)"), "", true},
		"one that starts another":       {"node a.js", file("a.js", "require('child_process').execSync('ls')"), "", false},
		"one by its first line":         {"./a.js", file("a.js", "#!/usr/bin/env node\nconsole.log(1)"), "", true},
		"one with an option there":      {"./a.js", file("a.js", "#!/usr/bin/node --require=./x.js\nconsole.log(1)"), "", false},
		"one for another interpreter":   {"node a.js", file("a.js", "#!/bin/sh\nconsole.log(1)"), "", false},
		"one behind a harmless option":  {"node --no-warnings a.js", file("a.js", "console.log(1)"), "", true},
		"one behind another option":     {"node --import=x a.js", file("a.js", "console.log(1)"), "", false},
		"what it loads":                 {"node a.js", with("export function f() { return 1 }"), "", true},
		"what it loads and starts more": {"node a.js", with("import 'child_process'"), "", false},
		"what it loads is not there":    {"node a.js", file("a.js", "import { f } from './b.js'\nf()\n"), "", false},
		"what it loads is old": {"node a.js", Contents{"/w/a.js": recent("const f = require('./b')\nf()"),
			"/w/b.js": settled("module.exports = require('child_process').exec")}, "", false},
		"what it loads is a folder": {"node a.js", Contents{"/w/a.js": recent("const f = require('./b')\nf()"),
			"/w/b/index.js": recent("exports.a = 1")}, "", false},
		"tests that only compare": {"npx vitest run", tests, "", true},
		"tests that get more":     {"npx playwright test", file("a.spec.js", "test('a', ({ page }) => page.f())"), "", false},
		"settings that get more":  {"npx webpack", file("webpack.config.js", "module.exports = (e) => e.f()"), "", false},
		"Perl":                    {"perl a.pl", file("a.pl", "print 1 + 1;\n"), "", true},
		"Perl with a module":      {"perl -Mx a.pl", file("a.pl", "print 1 + 1;\n"), "", false},
		"Ruby":                    {"ruby a.rb", file("a.rb", "puts 1 + 1\n"), "", false},
		"Lua":                     {"lua a.lua", file("a.lua", "print(1)\n"), "", true},
		"what arguments name": {"node a.js x",
			file("a.js", "console.log(require('fs').readFileSync(process.argv[2], 'utf8'))"), "", false},
	})
	read := Shell("node a.js", Place{Workdir: "/w", Contents: &Contents{"/w/a.js": recent("require('fs').writeFileSync('/etc/x', '1')")}})
	if !slices.Contains(read.Writes, "/etc/x") || !read.Complete {
		t.Errorf("a program of Node's writes %v (complete: %t)", read.Writes, read.Complete)
	}
}
