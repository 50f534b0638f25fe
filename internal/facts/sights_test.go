package facts_test

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
)

func TestProgramsAreKnownByEntriesByTheIndexAndByWhereTheyLie(t *testing.T) {
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana", Contents: &facts.Contents{
		"./old": {}, "./judged.sh": {Text: "ls", Known: true, Recent: true}, "./fresh": {Recent: true}}}
	for text, want := range map[string][]string{
		"ls; git status; helm list; cd x":                       nil,
		"unheard-of a | other-unheard-of":                       {"other-unheard-of", "unheard-of"},
		"/usr/bin/unheard-of; /opt/x/unheard-of":                nil,
		"./unheard-of; ~/bin/unheard-of; /tmp/unheard-of":       {"./unheard-of", "/tmp/unheard-of", "~/bin/unheard-of"},
		"/usr/../tmp/unheard-of":                                {"/usr/../tmp/unheard-of"},
		"node_modules/.bin/unheard-of; .venv/bin/x":             nil,
		"./old; ./judged.sh; ./fresh":                           {"./fresh"},
		"gcc -o app main.c && ./app":                            nil,
		"installed-here --version":                              nil,
		"sudo unheard-of; xargs unheard-of":                     {"unheard-of"},
		"$X; if true; then break; fi; 'two words'; f() { ls; }": nil,
	} {
		s := facts.SightsOf(facts.Shell(text, at), at, []string{"installed-here"})
		if len(s.Unknown) != len(want) || !slices.Equal(s.Unknown, want) && len(want) > 0 {
			t.Errorf("%s: unknown are %q, want %q", text, s.Unknown, want)
		}
	}
	s := facts.SightsOf(facts.Shell("yosys x; ls", at), at, nil)
	if s.Kinds["yosys"] != index.Builds || s.Kinds["ls"] != "" {
		t.Errorf("kinds are %v", s.Kinds)
	}
}
