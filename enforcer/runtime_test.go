package enforcer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// choosing is a backend that has a runtime, may use another, and lacks a third that it may use.
type choosing struct{ *fakeBackend }

func (choosing) Runtime(name string) (string, error) {
	switch name {
	case "", "usual":
		return "usual", nil
	case "other", "lacking":
		return name, nil
	}
	return "", backends.ErrUnsupported
}

func (choosing) Unusable() map[string]error {
	return map[string]error{"lacking": errors.New("the engine has no lacking")}
}

func choosingBench(t *testing.T, change ...func(*bailiff.Decision)) *bench {
	b := newBench(t, func(b *bench) { b.judge.decision = allow(change...) })
	b.config.Backends["docker"] = choosing{b.fakeBackend}
	return b
}

func chosen(runtime string) func(*bailiff.Decision) {
	return func(d *bailiff.Decision) { d.Backend.Runtime = runtime }
}

func TestTheRuntimeThatStandsInTheRecordIsTheOneThatRuns(t *testing.T) {
	t.Parallel()
	for named, runs := range map[string]string{"": "usual", "usual": "usual", "other": "other"} {
		b := choosingBench(t, chosen(named))
		a := b.Execute(t.Context(), request("true"), nil)
		made := b.fakeBackend.sandboxes()
		if a.Status != bailiff.Completed || a.Decision.Backend.Runtime != runs || len(made) != 1 || made[0].spec.Runtime != runs {
			t.Errorf("%q: the answer is %+v, made are %d, want one by %s", named, a, len(made), runs)
		}
	}
}

func TestARuntimeThatIsNotAllowedIsADenialAndNothingIsMade(t *testing.T) {
	t.Parallel()
	b := choosingBench(t, chosen("foreign"))
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != ruleRuntime || len(b.fakeBackend.sandboxes()) != 0 ||
		!strings.Contains(a.Decision.Denials[0].Message, `runtime "foreign", which the configuration of backend docker does not allow`) {
		t.Errorf("the answer is %+v", a)
	}
}

// A yes that could not be used is not asked for.
func TestARuntimeThatCannotBeUsedMakesARequestUnavailableAndAsksNobody(t *testing.T) {
	t.Parallel()
	b := choosingBench(t, chosen("lacking"), ask)
	b.human.answer = func(bailiff.Claim) bailiff.ApprovalState {
		t.Error("a person is asked")
		return bailiff.ApprovalApproved
	}
	a := b.Execute(t.Context(), patient("true"), nil)
	if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, "no lacking") || len(b.fakeBackend.sandboxes()) != 0 {
		t.Errorf("the answer is %+v", a)
	}
}

func TestASandboxIsNotUsedForAnotherRuntime(t *testing.T) {
	t.Parallel()
	b := choosingBench(t)
	for _, runtime := range []string{"", "usual", "other", "other", "usual"} {
		b.judge.says(allow(chosen(runtime)))
		if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed {
			t.Fatalf("the answer is %+v", a)
		}
	}
	var made []string
	for _, s := range b.fakeBackend.sandboxes() {
		made = append(made, s.spec.Runtime)
	}
	if want := []string{"usual", "other", "usual"}; !slices.Equal(made, want) {
		t.Errorf("sandboxes were made by %v, want %v", made, want)
	}
}
