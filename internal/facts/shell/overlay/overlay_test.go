package overlay_test

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// there is the file system of a folder in which some files are found, and the scope of a shell that stands in it.
func there(files value.Contents) (*overlay.FS, *state.Scope) {
	facts := &state.Sink{Budget: &state.Budget{Complete: true}}
	return overlay.New(facts, value.Place{Workdir: "/w", Contents: &files}), facts.NewScope("/w", false)
}

func content(t *testing.T, fs *overlay.FS, sc *state.Scope, file string) string {
	t.Helper()
	s, _ := fs.Content(word.Of(file), word.Stream{}, sc, sc)
	return s.Text
}

func TestWhatTheTextWritesCountsBeforeWhatWasThere(t *testing.T) {
	t.Parallel()
	fs, sc := there(value.Contents{"/w/a": {Text: "old", Known: true}})
	if got := content(t, fs, sc, "a"); got != "old" {
		t.Errorf("before: %q", got)
	}
	fs.Write("/w/a", word.Literal("new"), false)
	fs.Write("/w/a", word.Literal(" and more"), true)
	if got := content(t, fs, sc, "a"); got != "new and more" {
		t.Errorf("after: %q", got)
	}
}

func TestACopyHoldsWhatItsSourceHolds(t *testing.T) {
	t.Parallel()
	fs, sc := there(value.Contents{"/w/a": {Text: "text", Known: true}, "/w/d/a": {Text: "below", Known: true}})
	fs.Transfer("/w/b", []string{"/w/a"}, overlay.Copied)
	fs.Transfer("/w/e", []string{"/w/d"}, overlay.Copied)
	fs.Transfer("/w/c", []string{"/w/a"}, overlay.Written)
	for file, want := range map[string]string{"b": "text", "e/a": "below", "none": ""} {
		if got := content(t, fs, sc, file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	if s, ok := fs.Content(word.Of("c"), word.Stream{}, sc, sc); !ok || s.Known {
		t.Errorf("made of a file in a way that is not followed: %+v", s)
	}
	fs.Run("/w/c", "/w/c")
	if fs.RunSources(); !slices.Contains(fs.Files, "/w/a") {
		t.Errorf("what a file that runs is made of does not run: %q", fs.Files)
	}
}

func TestALinkLeadsToItsTarget(t *testing.T) {
	t.Parallel()
	fs, sc := there(nil)
	fs.Link("/w/l", "/etc")
	if got := fs.AddPaths(nil, word.Of("l/passwd"), sc, true); !slices.Contains(got, "/etc/passwd") {
		t.Errorf("below a link: %q", got)
	}
	if got := fs.AddPaths(nil, word.Of("l"), sc, false); slices.Contains(got, "/etc") {
		t.Errorf("a deletion follows the link itself: %q", got)
	}
	if got := fs.AddPaths(nil, word.Of("other/passwd"), sc, true); len(got) != 1 {
		t.Errorf("beside it: %q", got)
	}
}

func TestOnlyAYoungFileHidesWhatItDoes(t *testing.T) {
	t.Parallel()
	for _, recent := range []bool{true, false} {
		fs, sc := there(value.Contents{"/w/a": {Text: "eval $x", Known: true, Recent: recent}})
		s, _ := fs.Content(word.Of("a"), word.Stream{}, sc, sc)
		if fs.ReadIn(s, fs.Hide); fs.Complete == recent {
			t.Errorf("recent %v: complete %v", recent, fs.Complete)
		}
	}
}
