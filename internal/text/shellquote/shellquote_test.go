package shellquote

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var awkward = []string{"", "a", "'", "''", `\`, "a b", "a'b", "$HOME", "`id`", "-n", "\n", "*", "é", "\xff", "!x", "#", "'\\''", " ", "~",
	"a=b"}

func TestAShellReadsWordsBackAsTheyWere(t *testing.T) {
	t.Parallel()
	line := "printf '%s\\0' " + Join(awkward...) + " " + Enclose("plain")
	for _, shell := range []string{"bash", "sh"} {
		printed, err := exec.Command(shell, "-c", line).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(printed), strings.Join(awkward, "\x00")+"\x00plain\x00"; got != want {
			t.Errorf("%s reads %q, want %q", shell, got, want)
		}
	}
}

func TestWhatIsNotWrittenHereIsNotRead(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", " ", "a  b", "a ", " a", "a;b", "a$b", "a'b'", "'a'b", "'a", "a\tb", "'a' ; b", `"a"`, "a\nb",
		`'a'\'`, "~", "a #"} {
		if all, ok := Split(line); ok {
			t.Errorf("%q is read as %q", line, all)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a", "b c", "it's")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := []string{a, b, c}
		if got, ok := Split(Join(want...)); !ok || !slices.Equal(got, want) {
			t.Errorf("%q becomes %q", want, got)
		}
	})
}
