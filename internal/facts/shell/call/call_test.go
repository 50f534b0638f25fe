package call_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

func wordsOf(text string) (words []word.Word) {
	for _, field := range strings.Fields(text) {
		words = append(words, word.Of(field))
	}
	return words
}

func TestWordsAreToldApartByWhatTheirProgramTakes(t *testing.T) {
	t.Parallel()
	takesO := &programs.Program{Options: programs.Options{"-o": programs.FileWritten}}
	strict := &programs.Program{Strict: true}
	for name, c := range map[string]struct {
		program                *programs.Program
		words, flags, operands string
		// value is that of "-o".
		value string
	}{
		"a cluster":                  {takesO, "-rf a", "-r -f", "a", ""},
		"a value behind a colon":     {takesO, "-r:of a", "-r", "a", ""},
		"a value behind its option":  {takesO, "-o out a", "-o", "a", "out"},
		"a value in one word":        {takesO, "-oout a", "-o", "a", "out"},
		"the end of options":         {takesO, "-r -- -f", "-r", "-f", ""},
		"options behind operands":    {takesO, "a -r", "-r", "a", ""},
		"a program that stops there": {strict, "a -r", "", "a -r", ""},
		"an option without a value":  {strict, "-o out", "-o", "out", ""},
	} {
		args := call.ParseArguments(wordsOf(c.words), c.program)
		value, _ := args.Value("-o")
		if got := strings.Join(args.Flags, " "); got != c.flags {
			t.Errorf("%s: flags %q", name, got)
		}
		if got := strings.Join(word.Texts(args.Operands), " "); got != c.operands || value.Text != c.value {
			t.Errorf("%s: operands %q, value %q", name, got, value.Text)
		}
	}
}

func TestAProgramIsNamedWhereTheTextTellsIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"git": "git", "/usr/bin/git": "git", "git.exe": "git", "python3": "python3"} {
		if name, ok := call.ProgramName(word.Of(text)); !ok || name != want {
			t.Errorf("%s: %q %v", text, name, ok)
		}
	}
	for _, w := range []word.Word{{Text: "$x"}, {Text: "a/$x"}, word.Of(""), {Text: "/bin/*", Known: true, Glob: true}} {
		if name, ok := call.ProgramName(w); ok {
			t.Errorf("%q is told: %q", w.Text, name)
		}
	}
}

func TestOfTwoCommandsTheFirstThatMakesCommandsOfItsInputReadsIt(t *testing.T) {
	t.Parallel()
	var leads []string
	for _, pair := range [][2]string{{"sh", "cat"}, {"cat", "sh"}, {"cat", "ls"}} {
		leads = append(leads, call.Sequence(call.Result{Lead: pair[0]}, call.Result{Lead: pair[1]}).Lead)
	}
	if !slices.Equal(leads, []string{"sh", "sh", "cat"}) {
		t.Errorf("%q", leads)
	}
}
