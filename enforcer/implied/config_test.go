package implied

import (
	"slices"
	"strings"
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
		"[core]\n\tbare = false ; note \\\n\tfsmonitor = ./x\n": {{"core", "", "bare", "false"}, {"core", "", "fsmonitor", "./x"}},
		"[core]\n\tbare = \"a # b\" # note \\\n\tx = 1":         {{"core", "", "bare", "a # b"}, {"core", "", "x", "1"}},
		"[core] # [user]\n\tx = a b  \t\n":                      {{"core", "", "x", "a b"}},
	} {
		if got, whole := parse(text); !whole || !slices.Equal(got, want) {
			t.Errorf("%q is %q, %v, want %q", text, got, whole, want)
		}
	}
	for _, text := range []string{"x = 1", "[a\nb = 1", "[a]\n=1", "[a]\nb = \"1", "[a]\nb = \\q", "[a]\nb c"} {
		if got, whole := parse(text); whole {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func TestOnlyWhatGitItselfWritesAsPeopleWorkIsLeftOut(t *testing.T) {
	t.Parallel()
	const one, two = "[remote \"origin\"]\n\turl = a\n", "[remote \"other\"]\n\turl = b\n"
	for text, same := range map[string]bool{
		one + "|[branch \"m\"]\n\tremote = origin\n\tmerge = refs/heads/m\n": true,
		one + "|[branch \"m\"]\n\tvscode-merge-base = origin/m\n":            true,
		one + "|[user]\n\tname = A\n":                                        true,
		one + two + "|[branch \"m\"]\n\tremote = other\n":                    false,
		one + "|[branch \"m\"]\n\tremote = rr\n":                             false,
		one + "|[branch \"m\"]\n\tremote = https://evil.example/x\n":         false,
		one + "|[branch \"m\"]\n\tmergeoptions = -s x\n":                     false,
		one + "|" + two:                     false,
		one + "|[core]\n\tsshCommand = x\n": false,
	} {
		before, more, _ := strings.Cut(text, "|")
		base, _ := parse(before)
		with, whole := parse(before + more)
		if got := with.digest() == base.digest(); !whole || got != same {
			t.Errorf("%q leaves the digest as it is: %v, want %v", text, got, same)
		}
	}
}

func TestFilesThatSettingsNameAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"[alias]\n\tzz = !./x.sh --now\n":                 {"x.sh"},
		"[alias]\n\tzz = !exec sh t.sh\n":                 {"t.sh"},
		"[alias]\n\tzz = \"!f() { sh ./t.sh; }; f\"\n":    {"t.sh"},
		"[alias]\n\tzz = \"!'a b/t.sh'\"\n":               {"a b/t.sh"},
		"[alias]\n\tzz = log --oneline x/y\n":             nil,
		"[core]\n\tfsmonitor = .tools/watch\n":            {".tools/watch"},
		"[core]\n\tattributesfile = attrs\n":              {"attrs"},
		"[core]\n\teditor = code --wait\n":                nil,
		"[credential]\n\thelper = !/opt/x/gh auth\n":      {"/opt/x/gh"},
		"[core]\n\texcludesfile = ~/.ignore\n":            {"~/.ignore"},
		"[remote \"o\"]\n\turl = https://x.example/a/b\n": nil,
		"[remote \"o\"]\n\treceivepack = ./rp.sh\n":       {"rp.sh"},
		"[safe]\n\tdirectory = /workspace\n":              nil,
		"[user]\n\tname = A B\n":                          nil,
	} {
		all, _ := parse(text)
		if got := all[0].files(); !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
	for _, value := range []string{"~root/x", "%(prefix)/x"} {
		if isTold(value) {
			t.Errorf("%q is told", value)
		}
	}
}
