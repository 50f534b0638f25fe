package programs

import (
	"cmp"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/policies"
)

func TestTheVerbsThatInstallAreThoseOfThePolicies(t *testing.T) {
	t.Parallel()
	for name, words := range installing(t) {
		verbs := Of(name).Verbs
		for _, verb := range verbs {
			if len(Of(name+" "+verb).Sources) > 0 && words[verb] == "" {
				t.Errorf("%s %s installs by the grammar, not by the policies", name, verb)
			}
		}
		if len(verbs) == 0 || Of(name).Project != "" {
			continue // options tell it, or it installs what a project lists
		}
		for word := range words {
			if len(Of(name+" "+word).Sources) == 0 {
				t.Errorf("%s %s installs by the policies, not by the grammar", name, word)
			}
		}
	}
}

// installing are the words by which programs install, for the policies.
func installing(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, file := range files(t) {
		var entries map[string]struct{ Installs map[string]string }
		if err := yaml.Unmarshal(file, &entries); err != nil {
			t.Fatal(err)
		}
		for name, e := range entries {
			if e.Installs != nil {
				all[name] = e.Installs
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no program installs")
	}
	return all
}

// files are the texts of the families.
func files(t testing.TB) (texts [][]byte) {
	t.Helper()
	names, err := fs.Glob(policies.FS, "bailiff/programs/*/data.yaml")
	for _, name := range names {
		text, reading := policies.FS.ReadFile(name)
		texts, err = append(texts, text), cmp.Or(err, reading)
	}
	if err != nil || len(texts) == 0 {
		t.Fatal(len(texts), err)
	}
	return texts
}

func TestFaultsOfTheGrammarAreToldWithTheirProgram(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rm: {grammar: {operands: writes}}\nls: {grammar: {operand: reads}}": "line 1: field operand not found",
		"rm: {grammar: {operands: written}}":                                 "line 1: \"written\" is none of",
		"\nrm: {grammar: {options: -o=write}}":                               "the option -o=write",
		"rm: {grammar: {options: -o -o}}":                                    "line 1: the option -o is given twice",
		"npm: {grammar: {subcommands: run=many}}":                            "line 1: reading the subcommand run=many",
		"rm: {}\nrm: {}":                  "rm has two entries",
		"zsh: {grammar: {like: bash}}":    "zsh: the program is like bash",
		"rm: {grammar: {wraps: it}}":      "line 1: \"it\" is none of",
		"rm: {grammar: {skips: it}}":      "line 1: \"it\" is none of",
		"rm: {grammar: {loses: it}}":      "line 1: \"it\" is none of",
		"rm: {grammar: {fills: it}}":      "line 1: \"it\" is none of",
		"rm: {grammar: {input: it}}":      "line 1: \"it\" is none of",
		"rm: {grammar: {escapes: '('}}":   "line 1: reading the expression",
		"rm: {grammar: {reading: ['x']}}": "line 1: reading the expression",
		"rm: {grammar: {escapes: 'x'}}":   "line 1: reading the expression",
		"rm: {grammar: {output: it}}":     "line 1: \"it\" is none of",
	} {
		g := &grammars{texts: map[string]string{}}
		err := g.add(text)
		for name := range g.texts {
			_, fault := g.read(name)
			err = cmp.Or(err, fault)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", text, err, want)
		}
	}
}

func TestAVersionIsNoOtherProgram(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"python3.11": "python", "pypy3": "python", "nodejs": "node", "zsh": "shell", "sh5": "",
		"rm": ""} {
		if got := Interpreter(name); got != want {
			t.Errorf("%s interprets %q, want %q", name, got, want)
		}
	}
	if p := Description("python3.11"); p != Of("python") {
		t.Errorf("python3.11 is described as %+v", p)
	}
}

func TestOnlyCompilersLoseTheirVersions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"gcc-12": "gcc", "clang++-17": "clang++", "go1.22.3": "go", "pip3.12": "pip",
		"gcc-": "gcc-", "psql15": "psql15", "make4": "make4", "rm-9": "rm-9", "python3.11": "python3.11", "7": "7"} {
		if got := BaseName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestThePageHasEveryKeyOfAGrammar(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, keys, _ := strings.Cut(string(page), "## How it reads its arguments")
	is := reflect.TypeFor[Program]()
	for n := range is.NumField() {
		key := cmp.Or(is.Field(n).Tag.Get("yaml"), strings.ToLower(is.Field(n).Name))
		if !strings.Contains(keys, "| `"+key+"` |") {
			t.Errorf("docs/programs.md says nothing of %s", key)
		}
	}
}

func TestOneProgramHasOneLine(t *testing.T) {
	t.Parallel()
	for _, file := range files(t) {
		for line := range strings.Lines(string(file)) {
			if len(line) > 141 && !strings.Contains(line, `\`) && !strings.Contains(line, "^") {
				t.Errorf("the line is too long: %s", line)
			}
		}
	}
}

// An entry says by itself what it says in its file.
func TestEveryEntryIsReadAsInItsFile(t *testing.T) {
	t.Parallel()
	names := 0
	for _, file := range files(t) {
		var whole map[string]entry
		if err := yaml.Unmarshal(file, &whole); err != nil {
			t.Fatal(err)
		}
		names += len(whole)
		for name, want := range whole {
			alone, err := shipped().read(name)
			if want.Grammar != nil && want.Grammar.Like != "" {
				err = cmp.Or(err, want.Grammar.resemble(Of(want.Grammar.Like)))
			}
			if err != nil || alone.judged != (len(want.Meaning) > 0) || !reflect.DeepEqual(alone.program, want.Grammar) {
				t.Errorf("%s: by itself it is %+v, in its file %+v: %v", name, alone, want, err)
			}
		}
	}
	if len(shipped().texts) != names {
		t.Errorf("the files have %d entries, %d were found", names, len(shipped().texts))
	}
}
