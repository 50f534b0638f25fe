package output_test

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/output"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func TestACallTellsWhatItPrints(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"echo a b":          "a b\n",
		"echo -n a":         "a",
		`echo -e a\tb`:      "a\tb\n",
		`printf %s-%s a b`:  "a-b",
		"cat":               "in",
		"cat file":          "rm x",
		"base64":            "aW4=\n",
		"rev":               "ni",
		"tr a-z A-Z":        "IN",
		"basename /a/b.txt": "b.txt",
		"dirname /a/b.txt":  "/a",
		"pwd":               "/w",
		"tr -c a b":         "?",
		"curl h.example":    "?",
		"unknown-program a": "?",
	} {
		var words []word.Word
		for _, field := range strings.Fields(text) {
			words = append(words, word.Of(field))
		}
		facts := &state.Sink{Budget: &state.Budget{}}
		fs := overlay.New(facts, value.Place{Workdir: "/w"})
		fs.Write("/w/file", word.Literal("rm x"), false)
		entry := programs.Look(words[0].Text)
		inv := &call.Invocation{Argv: words, In: word.Literal("in"), Scope: facts.NewScope("/w", false)}
		got := (&output.Printer{FS: fs, Entry: entry}).Output(entry.Name, inv, call.ParseArguments(words[1:], entry.Described))
		if !got.Known {
			got.Text = "?"
		}
		if got.Text != want {
			t.Errorf("%s: %q", text, got.Text)
		}
		if fetches := words[0].Text == "curl"; got.Fetched != fetches {
			t.Errorf("%s: fetched %v", text, got.Fetched)
		}
	}
}

func TestWhatADecoderPrintsIsDecoded(t *testing.T) {
	t.Parallel()
	facts := &state.Sink{Budget: &state.Budget{}}
	entry := programs.Look("base64")
	inv := &call.Invocation{In: word.Literal("cm0geA=="), Scope: facts.NewScope("/w", false)}
	for _, option := range []string{"-d", "--wrap=0"} {
		args := call.ParseArguments([]word.Word{word.Of(option)}, entry.Described)
		got := (&output.Printer{FS: overlay.New(facts, value.Place{}), Entry: entry}).Output("base64", inv, args)
		if decodes := option == "-d"; got.Decoded != decodes || (got.Text == "rm x") != decodes {
			t.Errorf("%s: %+v", option, got)
		}
	}
}
