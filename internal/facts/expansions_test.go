package facts

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// Values and what stands in an expansion of them, in any order.
var (
	heldValues = []string{
		"foo", "probe", "a.b.c", "aXbX", "abc/def", "xprobex", "PROBE", "p r", "", "a&b", "~", "*", "-n", "#a", "%a", "a\\b", "äöp",
	}
	names     = []string{"x", "x", "x", "y", "1", "2", "0", "a", "a[1]", "a[-1]", "m[k]", "*", "@", "a[*]", "r", "none", "i", "j"}
	operators = []string{
		"", ":-probe", "-probe", ":+probe", "+probe", ":=probe", "#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,",
		":0:1", ":1", ": -1", ":1:2", ":(-2)", ":1:-1", "@U", "@L", "@u", "@Q", "@E", "@A", "@a", "@K",
	}
	patterns = []string{
		"", "*", "?", "f", "o", "a*", "*b", "[a-z]", "[!a]", "\\*", "'o'", "\"o\"", "$y", "X", "#", "%", "??", "*.", ".*", "/*", "*/",
		"@(a|f)", "[[:upper:]]", "\\#", "x*", "~",
	}
	replacements = []string{
		"", "/", "/probe", "/r", "/&", "/p&", "/\\&", "/'&'", "/\"&\"", "/$y", "/a/b", "/\\/", "/~", "/}", "/$(echo z)",
	}
)

func TestAnExpansionIsReadAsBashReadsIt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same texts each time
	one := func(of []string) string { return of[random.IntN(len(of))] }
	told, empty := 0, t.TempDir()
	for range 4000 {
		operator := one(operators)
		inner := operator
		switch operator {
		case "#", "##", "%", "%%", "^", "^^", ",", ",,":
			inner += one(patterns)
		case "/", "//", "/#", "/%":
			inner += one(patterns) + one(replacements)
		}
		lead := one([]string{"", "", "", "", "", "#", "!"})
		begin := "i='a[@]'; j='a[*]'; r=x; declare -A m=([k]='" + one(heldValues) + "')\n"
		for _, format := range []string{"x='%s'; ", "y='%s'; ", "a=('%s'", " '%s'); ", "set -- '%s'", " '%s'\n"} {
			begin += fmt.Sprintf(format, one(heldValues))
		}
		word := lead + one(names) + inner
		word = one([]string{"\"q${" + word + "}\"", "\"q${" + word + "}z\"", "q${" + word + "}", "\"${" + word + "}\"", "${" + word + "}"})
		want, ok := bashWords(t, empty, begin, word)
		if !ok {
			continue
		}
		c := Shell(begin+word, work)
		if !c.Parsed || !c.Complete {
			continue
		}
		told++
		if got := c.Calls[len(c.Calls)-1].Argv; len(want) > 0 && !alike(got, want) {
			t.Errorf("%s%s is %q in bash and was read as %q", begin, word, want, got)
		}
	}
	if told < 1000 {
		t.Errorf("%d words were read, so that they prove little", told)
	}
}

// bashWords are the arguments that bash makes of a word; ok is false where it refuses it.
func bashWords(t *testing.T, folder, begin, word string) (words []string, ok bool) {
	t.Helper()
	bash := exec.CommandContext(t.Context(), "bash", "-c", begin+"printf '%s\\0' "+word)
	bash.Dir, bash.Env = folder, []string{"PATH=/usr/bin:/bin", "HOME=/home/ana"}
	said, err := bash.Output()
	if err != nil {
		return nil, false
	}
	words = strings.Split(strings.TrimSuffix(string(said), "\x00"), "\x00")
	return words, len(words) > 1 || words[0] != ""
}

// alike says that what was read of a call is known to be the same, or not known.
func alike(got, want []string) bool {
	for i, g := range got {
		if strings.ContainsAny(g, "$…") {
			return true
		}
		if i >= len(want) || strings.ReplaceAll(want[i], "/home/ana", "~") != strings.ReplaceAll(g, "/home/ana", "~") {
			return false
		}
	}
	return len(got) == len(want)
}
