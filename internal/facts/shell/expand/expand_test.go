package expand_test

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/expand"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/parse"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// around writes the same in each substitution.
type around struct{ out word.Stream }

func (a around) Substitute([]*syntax.Stmt, *state.Scope, word.Stream) word.Stream { return a.out }
func (around) Redefines(string) bool                                              { return false }

func TestWordsBecomeValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a "b c" 'd e'`:       "a|b c|d e",
		`$x "$x"`:             "1|2|1 2",
		`${x%2} ${x#1 }`:      "1|2",
		`${none:-a} ${#x}`:    "a|3",
		`{a,b}c $((1 + 2))`:   "ac|bc|3",
		`$(anything)`:         "out|put",
		`"$(anything)"`:       "out put",
		`$none`:               "?$none",
		`~/a ${y}`:            "~/a|?$y",
		`"${a[@]}" ${a[1]}`:   "p|q|q",
		`a\ b $'c\td' e""f`:   "a b|c\td|ef",
		`"a${x}b" a"${x}"b`:   "a1 2b|a1 2b",
		`${x:0:1} ${x/1/3}`:   "1|3|2",
		`${x:+set} ${n:+set}`: "set|?$n",
	} {
		if got := strings.Join(valuesOf(t, text), "|"); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

func TestWhatIsEvaluatedOnceMoreHidesWhatATextDoes(t *testing.T) {
	t.Parallel()
	for text, hides := range map[string]bool{`$((a[$(id)]))`: false, `$(('a[$(id)]'))`: true, `${x@P}`: true, `${x@U}`: false} {
		facts := &state.Sink{Budget: &state.Budget{Complete: true}}
		if expandText(t, text, facts); facts.Complete == hides {
			t.Errorf("%s: complete %v", text, facts.Complete)
		}
	}
}

// valuesOf are the fields of a text, those that are not known behind a question mark.
func valuesOf(t *testing.T, text string) (values []string) {
	t.Helper()
	for _, w := range expandText(t, text, &state.Sink{Budget: &state.Budget{Complete: true}}) {
		if !w.Known {
			w.Text = "?" + w.Text
		}
		values = append(values, w.Text)
	}
	return values
}

func expandText(t *testing.T, text string, facts *state.Sink) []word.Word {
	t.Helper()
	stmts, err := parse.Statements("echo "+text, 1)
	if err != nil {
		t.Fatal(err)
	}
	sc := facts.NewScope("/w", false)
	sc.Set("x", state.Variable{List: []word.Word{word.Of("1 2")}})
	sc.Set("y", state.Variable{Lost: true})
	sc.Set("a", state.Variable{List: []word.Word{word.Of("p"), word.Of("q")}, Array: true})
	ex := expand.New(facts, around{word.Literal("out put\n")}, "/home/u")
	return ex.Fields(stmts[0].Cmd.(*syntax.CallExpr).Args, sc)[1:]
}
