package effects_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func wordsOf(text string) (words []word.Word) {
	for _, field := range strings.Fields(text) {
		words = append(words, word.Of(field))
	}
	return words
}

func TestACallTellsWhatItDoesToFilesAndHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cat a b":                  "reads /w/a /w/b writes  loses  hosts ",
		"cp a b c":                 "reads /w/a /w/b writes /w/c loses  hosts ",
		"rm -rf a":                 "reads  writes /w/a loses /w/a hosts ",
		"mv a b":                   "reads  writes /w/a /w/b loses /w/a hosts ",
		"grep x a":                 "reads /w/a writes  loses  hosts ",
		"grep -e x a":              "reads /w/a writes  loses  hosts ",
		"echo a":                   "reads  writes  loses  hosts ",
		"ping -c 1 h.example":      "reads  writes  loses  hosts h.example",
		"an-unknown-program ./a":   "reads /w/a writes  loses  hosts ",
		"an-unknown-program -o ./": "reads  writes /w loses  hosts ",
	} {
		words := wordsOf(text)
		entry := programs.Look(words[0].Text)
		facts := &state.Sink{Budget: &state.Budget{}}
		var e effects.Collector
		e.Reset(overlay.New(facts, value.Place{Workdir: "/w"}), entry, call.ParseArguments(words[1:], entry.Described),
			facts.NewScope("/w", false))
		got := e.Collect(entry.Name, nil)
		told := []string{"reads", strings.Join(got.Reads, " "), "writes", strings.Join(got.Writes, " "), "loses",
			strings.Join(got.Losses, " "), "hosts", strings.Join(got.Hosts, " ")}
		if strings.Join(told, " ") != want {
			t.Errorf("%s: %s", text, strings.Join(told, " "))
		}
	}
}

func TestTheOverlayFollowsWhatACallPutsIntoFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"cp a b": "rm x", "mv a b": "rm x", "ln -s a b": "rm x", "cat a": ""} {
		words := wordsOf(text)
		facts := &state.Sink{Budget: &state.Budget{}, Calls: []state.Record{{}}}
		fs := overlay.New(facts, value.Place{Workdir: "/w"})
		wr := effects.NewWriter(fs, new(call.Directory))
		sc := facts.NewScope("/w", false)
		fs.Write("/w/a", word.Literal("rm x"), false)
		inv := &call.Invocation{Argv: words, Scope: sc, Number: 1}
		args := call.ParseArguments(words[1:], programs.Look(words[0].Text).Described)
		wr.NoteContents(words[0].Text, inv, args)
		if got := fs.WrittenText("/w/b").Text; got != want {
			t.Errorf("%s: b holds %q", text, got)
		}
		wr.NoteLinks(inv, words[0].Text, args)
		led := slices.Contains(fs.AddPaths(nil, word.Of("b"), sc, true), "/w/a")
		if isLink := strings.HasPrefix(text, "ln"); led != isLink {
			t.Errorf("%s: b leads to a: %v", text, led)
		}
	}
}
