package grammars_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// walk notes what a program starts.
type walk struct{ started []string }

func (w *walk) note(format string, args ...any) call.Result {
	w.started = append(w.started, fmt.Sprintf(format, args...))
	return call.Result{}
}

func (w *walk) Text(_ string, _ *call.Invocation, code word.Word, _ *state.Scope) call.Result {
	return w.note("text %s", code.Text)
}

func (w *walk) Inner(_ string, _ *call.Invocation, argv []word.Word) call.Result {
	return w.note("call %s", strings.Join(word.Texts(argv), " "))
}

func (w *walk) Input(string, *call.Invocation, *state.Scope) call.Result { return w.note("input") }

func (w *walk) ProgramFile(_ string, file word.Word, _ *call.Invocation) {
	w.note("file %s", file.Text)
}

func (w *walk) Commands(string, *programs.Program, *call.Invocation, word.Stream) { w.note("commands") }

func (w *walk) Assignments(words []word.Word, _ *call.Invocation) (rest []word.Word, assigns []string) {
	i := slices.IndexFunc(words, func(w word.Word) bool { return !strings.Contains(w.Text, "=") })
	return words[max(i, 0):], word.Texts(words[:max(i, 0)])
}

func TestAGrammarTellsWhatItsProgramStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words   string
		started string
		hides   bool
	}{
		"env behind assignments":           {"env A=b ls -l", "call ls -l", false},
		"find for each":                    {"find d -name *.o -exec rm {} ;", "call rm d/*.o, call rm d/**/*.o", false},
		"find that starts nothing":         {"find d -name *.o", "", false},
		"xargs":                            {"xargs rm", "call rm in", false},
		"ssh":                              {"ssh h rm x", "text rm x", false},
		"ssh without a command":            {"ssh h", "input", false},
		"tar with a checkpoint":            {"tar cf a.tar --checkpoint-action=exec=id d", "text id", false},
		"a container":                      {"docker run -v /a:/b image rm x", "call rm x", false},
		"an image that decides":            {"docker run image", "", false},
		"an alias of git":                  {"git -c alias.x=!id x", "text id", false},
		"a verb of git":                    {"git status", "", false},
		"a hook of a repository":           {"git push ./r.git", "file ./r.git/hooks/pre-receive", false},
		"a command of sed":                 {"sed 1eid", "text id", false},
		"the input of sed":                 {"sed 1e", "text", true},
		"a script of sed that only prints": {"sed -n 1p", "", false},
		"awk":                              {`awk BEGIN{system("id")}`, "text id", false},
	} {
		started, complete := run(strings.Fields(c.words))
		if c.started == "" && started != "" || !strings.HasPrefix(started, c.started) {
			t.Errorf("%s: started %q", name, started)
		}
		if complete == c.hides {
			t.Errorf("%s: complete %v", name, complete)
		}
	}
}

// run has the grammar of a call's program say what that starts, and whether that is all.
func run(fields []string) (started string, complete bool) {
	var words []word.Word
	for _, field := range fields {
		words = append(words, word.Word{Text: field, Known: true, Glob: strings.Contains(field, "*")})
	}
	around := &walk{}
	facts := &state.Sink{Budget: &state.Budget{Complete: true}}
	rd := grammars.New(overlay.New(facts, value.Place{Workdir: "/w"}), around, around)
	entry := programs.Look(fields[0])
	inv := &call.Invocation{Argv: words, In: word.Literal("in"), Scope: facts.NewScope("/w", false)}
	grammars.Of(entry.Own.Grammar).Runs(&rd, entry.Name, inv, grammars.Arguments(entry, words[1:]))
	return strings.Join(around.started, ", "), facts.Complete
}

func TestMakeReadsTheRecipesOfItsGoals(t *testing.T) {
	t.Parallel()
	const makefile = "X = rm\nall: dep\n\t$(X) a\ndep:\n\techo b\nother:\n\techo c\n"
	for goal, want := range map[string]string{"": "text echo b, text rm a", "dep": "text echo b", "other": "text echo c"} {
		around := &walk{}
		facts := &state.Sink{Budget: &state.Budget{Complete: true}}
		fs := overlay.New(facts, value.Place{Workdir: "/w"})
		fs.Write("/w/Makefile", word.Literal(makefile), false)
		rd := grammars.New(fs, around, around)
		entry := programs.Look("make")
		words := []word.Word{}
		if goal != "" {
			words = append(words, word.Of(goal))
		}
		inv := &call.Invocation{Argv: append([]word.Word{word.Of("make")}, words...), Scope: facts.NewScope("/w", false)}
		grammars.Of("make").Files(&rd, "make", inv, grammars.Arguments(entry, words))
		started := slices.Compact(slices.Sorted(slices.Values(around.started))) // each is read by both values of a variable
		if got := strings.Join(started, ", "); got != want {
			t.Errorf("%q: %s", goal, got)
		}
	}
}
