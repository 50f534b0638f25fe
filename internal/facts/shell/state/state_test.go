package state_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

func valueOf(text string) state.Variable { return state.Variable{List: []word.Word{word.Of(text)}} }

func TestAfterTwoBranchesWhatDiffersIsUnknown(t *testing.T) {
	t.Parallel()
	b := &state.Budget{Complete: true}
	sc := b.NewScope("/w", false)
	sc.Set("same", valueOf("a"))
	sc.Set("other", valueOf("a"))
	branch := sc.Fork()
	branch.Set("other", valueOf("b"))
	branch.Folder = "/tmp"
	if w, _ := b.Value("other", sc); w.Text != "a" {
		t.Errorf("a branch has changed the variable around it: %q", w.Text)
	}
	b.Merge(sc, branch)
	if w, _ := b.Value("same", sc); !w.Known || w.Text != "a" {
		t.Errorf("the same in both: %+v", w)
	}
	if w, _ := b.Value("other", sc); w.Known {
		t.Errorf("other in one: %+v", w)
	}
	if !sc.Astray {
		t.Errorf("the folder is still %q", sc.Folder)
	}
}

func TestABranchThatEndsDoesNotCount(t *testing.T) {
	t.Parallel()
	b := &state.Budget{}
	sc := b.NewScope("/w", false)
	ends, goesOn := sc.Fork(), sc.Fork()
	ends.Set("x", valueOf("a"))
	goesOn.Set("x", valueOf("b"))
	b.Settle(sc, ends, true, goesOn, false)
	if w, _ := b.Value("x", sc); w.Text != "b" {
		t.Errorf("%+v", w)
	}
}

func TestAReadOnlyVariableTakesNoOtherValue(t *testing.T) {
	t.Parallel()
	b := &state.Budget{}
	sc := b.NewScope("/w", false)
	sc.Set("x", state.Variable{List: []word.Word{word.Of("a")}, ReadOnly: true})
	sc.Set("x", valueOf("b"))
	if w, _ := b.Value("x", sc); w.Known {
		t.Errorf("%+v", w)
	}
}

func TestATextThatRunsIntoALimitIsNotComplete(t *testing.T) {
	t.Parallel()
	b := &state.Budget{Complete: true}
	if !b.Spend(state.MaxSteps) || !b.Complete {
		t.Error("the last step is too much")
	}
	if b.Spend(1) || b.Complete {
		t.Error("more steps than there are go unnoticed")
	}
	idle := &state.Budget{Complete: true, Idle: true}
	if idle.Hide(); !idle.Complete {
		t.Error("a function that nothing calls hides what runs")
	}
}
