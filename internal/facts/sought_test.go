package facts

import (
	"slices"
	"testing"
)

func TestFilesThatProgramsFindByTheirNamesAreRead(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	there := Contents{"/w/x.sh": recent(removal)}
	project := Contents{"/w/d/package.json": recent(`{"scripts": {"test": "` + removal + `"}}`)}
	python := recent("import os\nos.system('" + removal + "')")
	foundCases(t, map[string]foundCase{
		"a program on the path":        {"PATH=.:$PATH x.sh", there, removal, true},
		"a path that is set before":    {"export PATH=/w:$PATH; x.sh", there, removal, true},
		"a program of the system":      {"x.sh", there, "", true},
		"what a shell starts with":     {"ENV=x.sh sh -i", there, removal, true},
		"what a script starts with":    {"BASH_ENV=/w/x.sh bash -c ls", there, removal, true},
		"a file of settings":           {"bash --rcfile x.sh -i", there, removal, true},
		"an option in the first line":  {"./a", Contents{"/w/a": recent("#!/bin/bash -e\n" + removal)}, removal, true},
		"a first line for env":         {"./a", Contents{"/w/a": recent("#!/usr/bin/env -S bash -e\n" + removal)}, removal, true},
		"a makefile by its first line": {"./a", Contents{"/w/a": recent("#!/usr/bin/make -f\nall:\n\t" + removal + "\n")}, removal, false},
		"a makefile that another has": {"make", Contents{"/w/Makefile": recent("include x.mk\n"),
			"/w/x.mk": recent("all:\n\t" + removal + "\n")}, removal, true},
		"a makefile in another folder": {"make -C d", Contents{"/w/d/Makefile": recent("all:\n\t" + removal + "\n")}, removal, true},
		"a makefile that another makes": {"make", Contents{"/w/Makefile": recent("all:\n\t$(MAKE) -C d\n"),
			"/w/d/Makefile": recent("all:\n\t" + removal + "\n")}, removal, true},
		"a makefile that includes itself": {"make", Contents{"/w/Makefile": recent("include Makefile\nall:\n\tls\n")}, "", true},
		"a project in another folder":     {"npm --prefix d test", project, removal, true},
		"the same by another manager":     {"yarn --cwd=d test", project, removal, true},
		"the project here":                {"npm test", project, "", true},
		"a program of awk's": {"awk -f x.awk",
			Contents{"/w/x.awk": recent(`BEGIN{system("` + removal + `")}`)}, removal, true},
		"a program of sed's": {"sed -f x.sed a", Contents{"/w/x.sed": recent("1e " + removal)}, removal, true},
		"a script of vim's": {"vim -es -S x.vim a",
			Contents{"/w/x.vim": recent(":silent !" + removal + "\n")}, removal, true},
		"an old script of vim's": {"vim -es -S x.vim a", Contents{"/w/x.vim": settled("set nu\n")}, "", true},
		"a test by its file":     {"pytest d/test_x.py::test_a", Contents{"/w/d/test_x.py": python}, removal, true},
		"a test by its module":   {"python3 -m unittest test_x", Contents{"/w/test_x.py": python}, removal, true},
		"a module":               {"python3 -m x", Contents{"/w/x/__main__.py": python}, removal, true},
		"a module beside a program": {"python3 d/a.py",
			Contents{"/w/d/a.py": settled("import x"), "/w/d/x.py": python}, removal, true},
		"a module elsewhere": {"python3 d/a.py", Contents{"/w/d/a.py": settled("import x"), "/w/x.py": python}, "", true},
		"a package around a module": {"python3 a.py",
			Contents{"/w/a.py": settled("import p.x"), "/w/p/__init__.py": python}, removal, true},
		"modules that import each other": {"python3 a.py",
			Contents{"/w/a.py": settled("import b"), "/w/b.py": settled("import a")}, "", true},
		"a file that Node loads": {"node a.js", Contents{"/w/a.js": settled("require('./b.cjs')"),
			"/w/b.cjs": recent("require('child_process').execSync('" + removal + "')")}, removal, false},
	})
}

func TestWhatFilesThatRunLoadByLiteralNamesBelongsToTheText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		files Contents
		want  string
	}{
		"a library of a script":        {"sh a.sh", Contents{"/w/a.sh": settled(". ./lib.sh")}, "/w/lib.sh"},
		"a module of a program":        {"python3 a.py", Contents{"/w/a.py": settled("import mod")}, "/w/mod.py"},
		"a file that Node loads":       {"node a.js", Contents{"/w/a.js": settled("import {b} from './b.mjs'")}, "/w/b.mjs"},
		"a library of unknown place":   {"sh a.sh", Contents{"/w/a.sh": settled(`. "$DIR/lib.sh"`)}, "$DIR/lib.sh"},
		"an included makefile":         {"make", Contents{"/w/Makefile": settled("include x.mk\n")}, "/w/x.mk"},
		"a program that a script runs": {"sh a.sh", Contents{"/w/a.sh": settled("./b")}, "/w/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Shell(c.text, Place{Workdir: "/w", Home: "/home/a", Contents: &c.files})
			if !slices.Contains(slices.Concat(got.Files, got.Opens), c.want) {
				t.Errorf("files are %q and %q, want %s among them", got.Files, got.Opens, c.want)
			}
			if open := "$DIR/lib.sh"; slices.Contains(got.Files, open) {
				t.Errorf("files are %q, want none that cannot be read", got.Files)
			}
		})
	}
}

func TestFilesThatProgramsFindByThemselvesAreRead(t *testing.T) {
	const removal = "rm -rf ~"
	removes := recent("import os\nos.system('" + removal + "')")
	foundCases(t, map[string]foundCase{
		"what go generates":                {"go generate ./...", Contents{"/w/a/x.go": recent("//go:generate " + removal)}, removal, true},
		"what go generates elsewhere":      {"go -C a generate", Contents{"/w/a/x.go": recent("//go:generate " + removal)}, removal, true},
		"a file that go only builds":       {"go build ./...", Contents{"/w/x.go": recent("//go:generate " + removal)}, "", true},
		"a generator of a project":         {"go generate", Contents{"/w/x.go": recent("//go:generate stringer -type=A")}, "", true},
		"a task of just":                   {"just a", Contents{"/w/justfile": recent("a:\n  " + removal)}, removal, true},
		"a harmless task of just":          {"just", Contents{"/w/justfile": recent("test:\n  go test ./...")}, "", true},
		"a file of just by an option":      {"just -f a.just", Contents{"/w/a.just": recent("a:\n  " + removal)}, removal, true},
		"an old task of just":              {"just test", Contents{"/w/justfile": settled("clean:\n  " + removal)}, "", true},
		"a Procfile":                       {"honcho start", Contents{"/w/Procfile": recent("web: " + removal)}, removal, true},
		"a shell of npm":                   {"npm run a", Contents{"/w/.npmrc": recent("script-shell=" + removal)}, removal, true},
		"a registry of npm":                {"npm install", Contents{"/w/.npmrc": recent("registry=https://r.corp")}, "", true},
		"Python that a builder runs":       {"scons", Contents{"/w/SConstruct": removes}, removal, true},
		"a setup that pip runs":            {"pip install .", Contents{"/w/setup.py": removes}, removal, true},
		"the same by Python":               {"python3 -m pip install .", Contents{"/w/setup.py": removes}, removal, true},
		"a setup that pip does not run":    {"pip list", Contents{"/w/setup.py": removes}, "", true},
		"a plain setup":                    {"pip install .", Contents{"/w/setup.py": recent("import setuptools")}, "", true},
		"settings in another language":     {"npx vite build", Contents{"/w/vite.config.ts": recent("eval(x)")}, "", false},
		"old settings in another language": {"npx vite build", Contents{"/w/vite.config.ts": settled("export default {}")}, "", true},
		"by a script of the project": {"npm run b", Contents{"/w/package.json": settled(`{"scripts": {"b": "webpack"}}`),
			"/w/webpack.config.js": recent("run()")}, "", false},
		"a builder's version":     {"rake --version", Contents{"/w/Rakefile": recent("1")}, "", true},
		"a builder's file":        {"rake", Contents{"/w/Rakefile": recent("1")}, "", false},
		"a builder of cargo":      {"cargo build", Contents{"/w/build.rs": recent("fn main() {}")}, "", false},
		"cargo without a builder": {"cargo build", Contents{"/w/src/main.rs": recent("fn main() {}")}, "", true},
		"another interpreter":     {"elixir x.exs", Contents{"/w/x.exs": recent("1")}, "", false},
		"a pickled file":          {"python3 -m pickle x.pkl", Contents{"/w/x.pkl": recent("cos")}, "", false},
	})
}

func TestFilesOfAProjectThatItsProgramsLeadToAreRead(t *testing.T) {
	const removal = "rm -rf ~"
	script := recent("#!/bin/sh\n" + removal)
	scripts := settled(`{"scripts": {"test": "jest"}}`)
	foundCases(t, map[string]foundCase{
		"a program of the project by npx": {"npx jest", Contents{"/w/node_modules/.bin/jest": script}, removal, true},
		"a program that a script starts": {"npm test",
			Contents{"/w/package.json": scripts, "/w/node_modules/.bin/jest": script}, removal, true},
		"a program that was installed": {"npx jest", Contents{"/w/node_modules/.bin/jest": recent("#!/usr/bin/env node\n1")}, "", true},
		"a program that is not there":  {"npx jest", Contents{}, "", true},
		"a folder that is installed": {"npm install ./d",
			Contents{"/w/d/package.json": recent(`{"scripts": {"install": "` + removal + `"}}`)}, removal, true},
		"a folder without scripts": {"npm install ./d", Contents{"/w/d/package.json": recent(`{"name": "d"}`)}, "", true},
		"a package of the project": {"npm run t --workspaces",
			Contents{"/w/p/a/package.json": recent(`{"scripts": {"t": "` + removal + `"}}`)}, removal, true},
		"another script of a package": {"npm run u --workspaces",
			Contents{"/w/p/a/package.json": recent(`{"scripts": {"t": "` + removal + `"}}`)}, "", true},
		"a script of another manager": {"yarn a",
			Contents{"/w/package.json": recent(`{"scripts": {"a": "` + removal + `"}}`)}, removal, true},
		"a script of another runtime": {"bun run a",
			Contents{"/w/package.json": recent(`{"scripts": {"a": "` + removal + `"}}`)}, removal, true},
		"a task of another runtime": {"deno task a",
			Contents{"/w/deno.json": recent(`{"tasks": {"a": "` + removal + `"}}`)}, removal, true},
		"a command of cmake": {"cmake -B b",
			Contents{"/w/CMakeLists.txt": recent("execute_process(COMMAND " + removal + ")")}, removal, true},
		"a command of cmake, above": {"mkdir b; cd b; cmake ..",
			Contents{"/w/CMakeLists.txt": recent("add_custom_target(a COMMAND " + removal + " VERBATIM)")}, removal, true},
		"a plain list of cmake": {"cmake -B b", Contents{"/w/CMakeLists.txt": recent("project(a C)\nadd_executable(a a.c)\n" +
			"add_custom_command(OUTPUT b COMMAND ${CMAKE_COMMAND} -E copy a b DEPENDS a)")}, "", true},
		"what a console of Python reads": {"python3 -m asyncio < x.py",
			Contents{"/w/x.py": recent("import os\nos.system('" + removal + "')")}, removal, true},
		"a verb that git finds": {"PATH=$PATH:/w/b git z", Contents{"/w/b/git-z": script}, removal, true},
		"a verb of git's own":   {"git status", Contents{"/w/git-status": script}, "", true},
		"a variable of two makefiles": {"make a",
			Contents{"/w/Makefile": settled("include c.mk\nX = :\na:\n\t$(X) z"), "/w/c.mk": recent("X=" + removal)}, removal, true},
		"a variable that make knows": {"make a",
			Contents{"/w/Makefile": recent("CC = " + removal + ";\na:\n\t$(CC) a.c")}, removal, true},
		"a variable that is added to": {"make a", Contents{"/w/Makefile": recent("X = echo\nX += rm -rf\na:\n\t$(X) z")}, "", true},
		"commands that read more commands": {"psql -f a.sql",
			Contents{"/w/a.sql": recent("\\i b.sql"), "/w/b.sql": recent("\\! " + removal)}, removal, true},
		"an operand that reads more": {"sqlite3 a.db '.read b.sql'",
			Contents{"/w/b.sql": recent(".shell " + removal)}, removal, true},
		"an editor that reads more": {"vim -es -c 'source x.vim' -c q",
			Contents{"/w/x.vim": recent("silent !" + removal)}, removal, true},
		"commands that only look": {"psql -f a.sql",
			Contents{"/w/a.sql": recent("\\i b.sql"), "/w/b.sql": recent("select 1")}, "", true},
		"tests' settings above a folder": {"pytest tests",
			Contents{"/w/conftest.py": recent("import os\nos.system('" + removal + "')")}, removal, true},
		"a plugin of tests": {"pytest -p plug",
			Contents{"/w/plug.py": recent("import os\nos.system('" + removal + "')")}, removal, true},
	})
	got := Python("import sys\nsys.path.insert(0, 'l')\nimport x",
		Place{Workdir: "/w", Contents: &Contents{"/w/l/x.py": recent("import os\nos.system('rm -rf ~')")}})
	if got.Command == nil || !slices.Contains(got.Command.Programs, "rm") {
		t.Errorf("a module in a folder that the program searches is not read: %+v", got.Command)
	}
}

// Settings in a language that is not read are read as far as they only name values.
func TestSettingsOfNodesProgramsAreReadAsFarAsTheyOnlyNameValues(t *testing.T) {
	const removal = "rm -rf ~"
	settings := func(text string) Contents { return Contents{"/w/vite.config.ts": recent(text)} }
	foundCases(t, map[string]foundCase{
		"nothing": {"npx vite build", settings("export default {}"), "", true},
		"what is usual": {"npx vite build", settings("import { defineConfig } from 'vite'\nimport react from '@vitejs/plugin-react'\n" +
			"export default defineConfig({ plugins: [react()], server: { port: 3000 }, build: { outDir: './dist' } })"), "", true},
		"the older way": {"npx vite build", settings("const path = require('path');\n" +
			"module.exports = { entry: path.resolve(__dirname, 'src'), r: [{ test: /\\.js$/ }], mode: process.env.M || 'a' };"), "", true},
		"a command":           {"npx vite build", settings("export default { webServer: { command: '" + removal + "' } }"), removal, true},
		"a plain command":     {"npx vite build", settings("export default { webServer: { command: 'npm run start' } }"), "", true},
		"another program":     {"npx vite build", settings("require('child_process').execSync('ls')"), "", false},
		"another package":     {"npx vite build", settings("import { execa } from 'execa'\nexeca('ls')"), "", false},
		"a name put together": {"npx vite build", settings("const f = []['con' + 'structor']; f('1')()"), "", false},
		"a key put together":  {"npx vite build", settings("const {['con' + 'structor']: f} = []; f('1')()"), "", false},
		"a key as a string":   {"npx vite build", settings("const {'constructor': f} = []; f('1')()"), "", false},
		"a call of a value":   {"npx vite build", settings("export default ({ run }) => run('ls')"), "", false},
		"an import by a call": {"npx vite build", settings("const x = import('x')"), "", false},
		"a tagged text":       {"npx vite build", settings("import x from 'vite'\nexport default y`ls`"), "", false},
		"more of process":     {"npx vite build", settings("export default process.binding('x')"), "", false},
		"a file beside it": {"npx vite build",
			Contents{"/w/vite.config.ts": recent("import x from './x'\nexport default x"), "/w/x.js": recent("run()")}, "", false},
		"a file that it names": {"npx vite build",
			Contents{"/w/vite.config.ts": recent("export default { setup: './x.js' }"), "/w/x.js": recent("run()")}, "", false},
		"another name for require": {"npx vite build", settings("const r = require; r('child_process')"), "", false},
		"require, if there is one": {"npx vite build", settings("const r = require?.('child_process')"), "", false},
		"what divides":             {"npx vite build", settings("a++ /eval(x)/ b"), "", false},
		"a parameter's call":       {"npx vite build", settings("module.exports = ({run}) => [require('path'), run('ls')]"), "", false},
		"a module of Node's":       {"npx vite build", settings("import x from 'node:child_process'"), "", false},
		"a module put together":    {"npx vite build", settings("const x = require('vite' + '/../x')"), "", false},
		"a letter by its number":   {"npx vite build", settings("const f = x.c\\u006fnstructor"), "", false},
		"a class":                  {"npx vite build", settings("export default class { static x = 1 }"), "", false},
	})
}
