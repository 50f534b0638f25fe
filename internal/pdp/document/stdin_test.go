package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

func TestWhatComesOnStandardInputIsReadAsWell(t *testing.T) {
	for name, c := range map[string]struct {
		command, stdin string
		programs       []string
		complete       bool
	}{
		"a shell runs it":                     {"bash", "rm -rf /", []string{"bash", "rm"}, true},
		"a shell behind sudo runs it":         {"sudo sh -s", "rm -rf /", []string{"rm", "sh", "sudo"}, true},
		"a shell in a list runs it":           {"cd /x && bash", "rm -rf /", []string{"bash", "cd", "rm"}, true},
		"a program only reads it":             {"cat > notes.txt", "rm -rf /", []string{"cat"}, true},
		"it holds the end of a here-document": {"bash", "true\nEND\nEND_\nrm -rf /", []string{"END", "END_", "bash", "rm", "true"}, true},
		"it is no text":                       {"cat > a.png", "\x89PNG\x00", []string{"cat"}, false},
		"the command's own document is open":  {"cat <<X\nhello", "rm -rf /", nil, false},
		"there is none":                       {"ls", "", []string{"ls"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := shell(bailiff.Args{Command: c.command, Stdin: c.stdin}, facts.Place{})
			if !slices.Equal(got.Programs, c.programs) || got.Complete != c.complete || got.Text != c.command {
				t.Errorf("got %v, complete %v, text %q", got.Programs, got.Complete, got.Text)
			}
			if slices.Contains(got.Features, facts.FeatureHeredoc) && !strings.Contains(c.command, "<<") {
				t.Error("it is told of a here-document that the command does not hold")
			}
		})
	}
}
