package languages_test

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
)

func TestAFileTellsItsLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"#!/usr/bin/env python3\nx": "python", "#!/usr/bin/perl -w\n": "perl", "#!/bin/sh\n": "shell", "# !/bin/sh\n": "", "print(1)": "",
	} {
		if got := languages.ShebangLanguage(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for file, want := range map[string]string{"a.py": "python", "b/a.mjs": "node", "a.sh": "shell", "a.txt": "", "py": ""} {
		if got := languages.LanguageOf(file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}

func TestAProgramTellsWhatItLoadsAndStarts(t *testing.T) {
	t.Parallel()
	const script = "const a = require('./b'), c = require('fs'); require('child_process').execSync('rm x'); exec(command)"
	if got := languages.LoadNames("node", script); !slices.Equal(got, []string{"./b"}) {
		t.Errorf("it loads %q", got)
	}
	if got, all := languages.ShellTexts("node", script); !slices.Equal(got, []string{"rm x"}) || all {
		t.Errorf("it starts %q, all of it %v", got, all)
	}
	if languages.LoadsPackages("require('fs'); require('./b')") || !languages.LoadsPackages("require('left-pad')") {
		t.Error("packages are not told from Node's own modules")
	}
	if got := languages.ModuleFiles("python", "a.b"); !slices.Equal(got, []string{"a.py", "a/__init__.py", "a/b.py", "a/b/__init__.py"}) {
		t.Errorf("a.b lies in %q", got)
	}
}

func TestOnlySubstitutionsAndSettingsAreHarmless(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"s/a/b/g; y/a/b/": true, "s/a/system 1/e": false, "s/a/`id`/": false, "unlink 'a'": false} {
		if got := languages.OnlySubstitutes(code); got != want {
			t.Errorf("perl -pe %q: %v", code, got)
		}
	}
	for text, want := range map[string]bool{
		"export default { root: 'src' }":                               true,
		"import vite from 'vite'\nexport default vite({a: 1})":         true,
		"require('child_process').execSync('id')":                      false,
		"export default { [x]: 1 }":                                    false,
		"module.exports = { a: globalThis['process'].mainModule() }":   false,
		"import x from 'plugin-a'\nexport default [x(), process.exit]": false,
	} {
		tokens, ok := languages.NodeTokens(text)
		if got := ok && languages.OnlyNodeSettings("vite", tokens); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAPackageManagerRunsTheScriptsAroundTheOneThatIsNamed(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"test": {"pretest", "test", "posttest"}, "t": {"pretest", "test", "posttest"}, "run": nil, "-v": nil,
	} {
		if got := languages.ScriptNames([]string{command}); !slices.Equal(got, want) {
			t.Errorf("%s: %q", command, got)
		}
	}
}

func TestASourceOnlyComputesWhereAllThatItImportsDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"package x\nimport \"testing\"\nfunc TestX(t *testing.T) { t.Log(1) }":                                            true,
		"package main\nimport (\n\t\"fmt\" // to print\n\t\"os\"\n)\nfunc main() { fmt.Println(os.Args) }":                true,
		"package main\nfunc main() { println(1) }":                                                                        true,
		"package main\nimport \"os\"\nfunc main() { os.RemoveAll(\"a\") }":                                                false,
		"package main\nimport \"os\"\nfunc main() { os . RemoveAll(\"a\") }":                                              false,
		"package main\nimport \"os\"\nfunc main() { os/* */.RemoveAll(\"a\") }":                                           false,
		"package main\nimport \"os\"\nfunc main() { f := os.RemoveAll; f(\"a\") }":                                        false,
		"package main\nimport . \"os\"\nfunc main() { RemoveAll(\"a\") }":                                                 false,
		"package main\nimport o \"os\"\nfunc main() { o.RemoveAll(\"a\") }":                                               false,
		"package main\nimport ( // )\n\"os/exec\"\n)\nfunc main() { exec.Command(\"a\").Run() }":                          false,
		"package main\nimport /* ; */ \"os/exec\"\nfunc main() { exec.Command(\"a\").Run() }":                             false,
		"package main\nimport \"fmt\"; import `syscall`\nfunc main() { syscall.Reboot(1) }":                               false,
		"package main\nimport .\n\"os/exec\"\nfunc main() { Command(\"a\").Run() }":                                       false,
		"package main\nfunc f()\nfunc main() { f() }":                                                                     false,
		"package main\nfunc main() {":                                                                                     false,
		"package main\nimport \"C\"\nfunc main() {}":                                                                      false,
		"package main\nimport _ \"unsafe\"\n//go:linkname f os.RemoveAll\nfunc f(string) error\nfunc main() { f(\"a\") }": false,
	} {
		if got := languages.Computes("a/x_test.go", text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if languages.Computes("main.rs", "fn main() {}") {
		t.Error("a source in a language that is not read only computes")
	}
}

func TestConstantsAreNamedAndPrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a=1+1": true, "x <- \"a\"": true, "puts 1 + 2": true, "y = 2*(3-1);\n": true, "#use \"x\"": false, "#=(f)": false, "1+1": true,
		"": false, "a=b": false, "f(1)": false, "puts `id`": false, "a=1; delete x": false, "print a": false, "system 1 x": false,
		"x = \"#{f}\"": false, "x = \"$(id)\"": false, "print(1)": true, "println(\"a b\")": true, "disp(1 + 1);": true,
		"IO.puts('a')": true,
		"print(a)":     false, "print(\"a\")(b)": false, "puts(`id`)": false, "println(s\"a\")": false, "println(\"a\".b)": false,
		"print(\"a\", f)": false, "print(1);f": false, "disp(1)\n!id": false, "print(1) if f": false, "f(\"a\")": false,
		"print(1)%f": false,
	} {
		if got := languages.NamesConstants(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
