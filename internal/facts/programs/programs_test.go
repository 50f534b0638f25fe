package programs

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the lists in testdata anew")

// A program that only one side knows is judged by half: either by what it does alone, or
// without what it reads and writes. The lists show each, so that adding a program on one
// side is seen.
func TestEachSideKnowsTheProgramsThatTheOtherKnows(t *testing.T) {
	t.Parallel()
	policies := programsOfPolicies(t)
	var here, there []string
	for name := range all() {
		if !policies[name] && !strings.Contains(name, " ") {
			here = append(here, name)
		}
	}
	for name := range policies {
		if all()[name] == nil {
			there = append(there, name)
		}
	}
	golden(t, "testdata/only_in_the_grammar.txt", here)
	golden(t, "judged.txt", there)
}

func TestTheVerbsThatInstallAreThoseOfThePolicies(t *testing.T) {
	var installing map[string]map[string]string
	if err := tableOfPolicies(t, "installing").Decode(&installing); err != nil {
		t.Fatal(err)
	}
	for name, words := range installing {
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

// programsOfPolicies are the names in the policies' tables of programs.
func programsOfPolicies(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, table := range []string{"programs", "harmless", "options", "suppliers", "printers", "shells"} {
		rows := map[string]yaml.Node{}
		if err := tableOfPolicies(t, table).Decode(&rows); err != nil || len(rows) == 0 {
			t.Fatalf("the table %s: %v", table, err)
		}
		for name := range maps.Keys(rows) {
			names[name] = true
		}
	}
	return names
}

func tableOfPolicies(t *testing.T, name string) *yaml.Node {
	t.Helper()
	text, err := os.ReadFile("../../../policies/data.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Bailiff struct{ Tables map[string]yaml.Node }
	}
	if err := yaml.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	table := data.Bailiff.Tables[name]
	return &table
}

func golden(t *testing.T, file string, names []string) {
	t.Helper()
	slices.Sort(names)
	got := strings.Join(names, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date: describe the program on the other side too, or write the list anew with -update", file)
	}
}

func TestFaultsOfTheGrammarAreToldWithTheirLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rm: {operands: writes}\nls: {operand: reads}": "line 2: field operand not found",
		"rm: {operands: written}":                      "line 1: \"written\" is none of",
		"\nrm: {options: -o=write}":                    "line 2: the option -o=write",
		"rm: {options: -o -o}":                         "line 1: the option -o is given twice",
		"npm: {subcommands: run=many}":                 "line 1: reading the subcommand run=many",
		"rm: {}\nrm: {}":                               "line 2: mapping key \"rm\" already defined at line 1",
		"zsh: {like: bash}":                            "zsh is like bash",
		"rm: {wraps: it}":                              "line 1: \"it\" is none of",
		"rm: {skips: it}":                              "line 1: \"it\" is none of",
		"rm: {loses: it}":                              "line 1: \"it\" is none of",
		"rm: {fills: it}":                              "line 1: \"it\" is none of",
		"rm: {input: it}":                              "line 1: \"it\" is none of",
		"rm: {escapes: '('}":                           "line 1: reading the expression",
		"rm: {reading: ['x']}":                         "line 1: reading the expression",
		"rm: {escapes: 'x'}":                           "line 1: reading the expression",
		"rm: {output: it}":                             "line 1: \"it\" is none of",
	} {
		if _, err := read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
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
	if p := Described("python3.11"); p != Of("python") {
		t.Errorf("python3.11 is described as %+v", p)
	}
}

func TestOnlyCompilersLoseTheirVersions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"gcc-12": "gcc", "clang++-17": "clang++", "go1.22.3": "go", "pip3.12": "pip",
		"gcc-": "gcc-", "psql15": "psql15", "make4": "make4", "rm-9": "rm-9", "python3.11": "python3.11", "7": "7"} {
		if got := Unversioned(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestOneProgramHasOneLine(t *testing.T) {
	t.Parallel()
	for i, line := range strings.Split(string(text), "\n") {
		if len(line) > 140 || strings.Count(line, ": {") > 1 {
			t.Errorf("line %d holds more than one fact of a program, or is too long: %s", i+1, line)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := read(text); err != nil {
			b.Fatal(err)
		}
	}
}
