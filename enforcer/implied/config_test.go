package implied

import (
	"slices"
	"testing"
)

func TestSettingsOfGitAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config{
		"": nil,
		"[core]\n\tbare = false\n\thooksPath = .githooks # x\n": {{"core", "", "bare", "false"}, {"core", "", "hookspath", ".githooks"}},
		"[remote \"a\\\"b\"] url = \"x;y\" ; z\n":               {{"remote", `a"b`, "url", "x;y"}},
		"[alias]\n\tzz = !sh \\\n -c x\n":                       {{"alias", "", "zz", "!sh  -c x"}},
		"[a.b]\n\tflag\n":                                       {{"a.b", "", "flag", ""}},
		"\ufeff[x]\r\n a = 1\r\n":                               {{"x", "", "a", "1"}},
	} {
		if got, whole := parse(text); !whole || !slices.Equal(got, want) {
			t.Errorf("%q is %q, %v, want %q", text, got, whole, want)
		}
	}
	for _, text := range []string{"x = 1", "[a\nb = 1", "[a]\n=1", "[a]\nb = \"1", "[a]\nb = \\q"} {
		if got, whole := parse(text); whole {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func TestOnlyWhatGitItselfWritesAtEveryPushIsLeftOut(t *testing.T) {
	t.Parallel()
	base, _ := parse("[core]\n\tbare = false\n")
	for text, same := range map[string]bool{
		"[branch \"m\"]\n\tremote = origin\n\tmerge = refs/heads/m\n": true,
		"[branch \"m\"]\n\tremote = https://evil.example/x\n":         false,
		"[branch \"m\"]\n\tpushremote = ../other\n":                   false,
		"[branch \"m\"]\n\tmergeoptions = -s x\n":                     false,
		"[remote \"o\"]\n\turl = a\n":                                 false,
		"[core]\n\tsshCommand = x\n":                                  false,
	} {
		more, whole := parse("[core]\n\tbare = false\n" + text)
		if got := more.digest() == base.digest(); !whole || got != same {
			t.Errorf("%q leaves the digest as it is: %v, want %v", text, got, same)
		}
	}
}

func TestFilesThatSettingsNameAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"[alias]\n\tzz = !./x.sh --now\n":                 {"top/./x.sh"},
		"[core]\n\tfsmonitor = .tools/watch\n":            {"top/.tools/watch"},
		"[core]\n\tattributesfile = attrs\n":              {"top/attrs"},
		"[credential]\n\thelper = !/usr/bin/gh auth\n":    {"/usr/bin/gh"},
		"[core]\n\texcludesfile = ~/.ignore\n":            {"~/.ignore"},
		"[remote \"o\"]\n\turl = https://x.example/a/b\n": nil,
		"[remote \"o\"]\n\turl = ../other\n":              nil,
		"[user]\n\tname = A B\n":                          nil,
	} {
		all, _ := parse(text)
		if got := all[0].files("top"); !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}
