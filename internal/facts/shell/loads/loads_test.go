package loads_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/loads"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// walk notes what is started.
type walk struct{ started []string }

func (w *walk) note(what string) call.Result {
	w.started = append(w.started, what)
	return call.Result{}
}

func (w *walk) Text(_ string, _ *call.Invocation, code word.Word, _ *state.Scope) call.Result {
	return w.note("text " + code.Text)
}

func (w *walk) Inner(_ string, _ *call.Invocation, argv []word.Word) call.Result {
	return w.note("call " + strings.Join(word.Texts(argv), " "))
}

func (w *walk) Invoke(inv call.Invocation) call.Result {
	return w.note("call " + strings.Join(word.Texts(inv.Argv), " "))
}

func (w *walk) Record(_ *call.Invocation, name string, _ *call.Arguments) { w.note("record " + name) }

func (w *walk) Suppose(*value.Command, []string) {}

func (w *walk) SupposeCall(string, *call.Invocation, []word.Word) {}

// files are those that lie around a call; a young one may have been made by the session.
var files = value.Contents{
	"/w/a.py":         {Text: "import b", Known: true, Recent: true},
	"/w/b.py":         {Text: "of b", Known: true, Recent: true},
	"/w/c.py":         {Text: "of c", Known: true, Recent: true},
	"/w/a.js":         {Text: "require('child_process').execSync('rm x')", Known: true, Recent: true},
	"/w/a.sh":         {Text: "rm x", Known: true, Recent: true},
	"/w/young":        {Recent: true},
	"/w/package.json": {Text: `{"scripts": {"test": "rm x", "other": "ls"}}`, Known: true, Recent: true},
}

// reads is a way in which a loader reads a call.
type reads func(ld *loads.Loader, name string, inv *call.Invocation, args *call.Arguments)

// run has a call read by a loader, and returns what it starts; Python programs are among it.
func run(text string, read reads) (started []string, complete bool) {
	var words []word.Word
	for _, field := range strings.Fields(text) {
		words = append(words, word.Of(field))
	}
	facts := &state.Sink{Budget: &state.Budget{Complete: true}}
	fs, around, about := overlay.New(facts, value.Place{Workdir: "/w", Contents: &files}), &walk{}, new(call.Directory)
	python := func(source string, _ value.Place) value.Code {
		around.note("python " + source)
		if module, imports := strings.CutPrefix(source, "import "); imports {
			return value.Code{Parsed: true, Complete: true, Imports: []string{module}}
		}
		return value.Code{Parsed: true, Complete: true}
	}
	rd := grammars.New(fs, nil, nil)
	ld := loads.New(fs, about, around, &rd, python)
	entry := programs.Look(words[0].Text)
	inv := &call.Invocation{Argv: words, Scope: facts.NewScope("/w", false)}
	read(&ld, entry.Name, inv, grammars.Arguments(entry, words[1:]))
	return around.started, facts.Complete
}

func TestAnInterpreterRunsItsFileAndWhatThatLoads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"python3 a.py":      "python import b, python of b",
		"python3 c.py":      "python of c",
		"python3 -m c":      "python of c",
		"python3 --version": "",
		"node a.js":         "text rm x",
	} {
		started, _ := run(text, func(ld *loads.Loader, name string, inv *call.Invocation, args *call.Arguments) {
			ld.ReadLanguage(name, programs.Look(name).Language, inv, args)
		})
		if got := strings.Join(started, ", "); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestAYoungFileThatIsNotKnownHidesWhatRuns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"perl young": false, "perl old": true, "node a.js": false} {
		_, complete := run(text, func(ld *loads.Loader, name string, inv *call.Invocation, args *call.Arguments) {
			ld.ReadLanguage(name, programs.Look(name).Language, inv, args)
		})
		if complete != want {
			t.Errorf("%s: complete %v", text, complete)
		}
	}
}

func TestAPackageManagerRunsTheScriptsOfTheProject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"npm test": {"text rm x"}, "npm run other": {"text ls"}, "npm run none": nil, "npm help": nil,
	} {
		started, _ := run(text, func(ld *loads.Loader, name string, inv *call.Invocation, args *call.Arguments) {
			ld.ReadScripts(name, "package.json", inv, args)
		})
		if !slices.Equal(started, want) {
			t.Errorf("%s: %q", text, started)
		}
	}
}

func TestAProgramOfAPathRunsByItsFirstLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"./a.sh b": {"text rm x"}, "./none": nil, "/bin/ls": nil} {
		started, _ := run(text, func(ld *loads.Loader, _ string, inv *call.Invocation, _ *call.Arguments) { ld.PathProgram(inv) })
		if !slices.Equal(started, want) {
			t.Errorf("%s: %q", text, started)
		}
	}
}
