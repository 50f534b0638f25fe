package pdp

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// warden is a guard that says the same of every request, and keeps what it saw.
type warden struct {
	denials []bailiff.Reason
	fault   error
	command []*facts.Command
	code    []*facts.Code
}

func (w *warden) Check(_ context.Context, _ bailiff.Request, command *facts.Command, code *facts.Code) ([]bailiff.Reason, error) {
	w.command, w.code = append(w.command, command), append(w.code, code)
	return w.denials, w.fault
}

func guarded(t *testing.T, w *warden, decision string) *PDP {
	t.Helper()
	p, err := Open(context.Background(), Config{Paths: []string{tree(t, deciding(decision))}, EvalTimeout: time.Minute, Guard: w})
	must(t, err)
	return p
}

func TestAGuardDeniesWhateverThePoliciesSay(t *testing.T) {
	no := []bailiff.Reason{{Rule: "guard.no", Message: "No."}}
	const allow = `{"outcome": "allow", "denials": [], "backend": {"name": "docker", "scope": "session", "network": "none"},
	"limits": {"timeout_seconds": 180, "output_bytes": 50000}}`
	for name, decision := range map[string]string{
		"that they allow":      allow,
		"what is no decision":  `{"outcome": "perhaps"}`,
		"nothing at all":       `data.bailiff.missing`,
		"what is in conflict":  `x if { some x in ["a", "b"] }`,
		"that they deny by it": `{"outcome": "deny", "denials": [{"rule": "a.b", "message": "c"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			j := judged(guarded(t, &warden{denials: no}, decision))
			if j.Decision.Outcome != bailiff.Deny || !reflect.DeepEqual(j.Decision.Denials, no) || j.Fault != nil ||
				j.Decision.Revision == "" || j.Input == nil {
				t.Errorf("got %+v, fault %v", j.Decision, j.Fault)
			}
		})
	}
	if j := judged(guarded(t, &warden{}, allow)); j.Decision.Outcome != bailiff.Allow {
		t.Errorf("a guard that says nothing: %+v, %v", j.Decision, j.Fault)
	}
	if j := judged(guarded(t, &warden{}, `{"outcome": "deny"}`)); j.Decision.Outcome != bailiff.Deny {
		t.Errorf("a guard permits what the policies deny: %+v", j.Decision)
	}
}

func TestWhatAGuardSaysIsRememberedButItsFaults(t *testing.T) {
	w := &warden{denials: []bailiff.Reason{{Rule: "guard.no", Message: "No."}}}
	p := guarded(t, w, `{"outcome": "deny"}`)
	first, again := judged(p), judged(p)
	if !recalled(again) || !reflect.DeepEqual(first.Decision, again.Decision) || len(w.command) != 1 {
		t.Errorf("asked %d times; decided %+v, then %+v", len(w.command), first.Decision, again.Decision)
	}
	w = &warden{denials: w.denials, fault: errors.New("out of time")}
	p = guarded(t, w, `{"outcome": "deny"}`)
	if first, again = judged(p), judged(p); recalled(again) || again.Fault == nil || len(w.command) != 2 {
		t.Errorf("asked %d times; faults are %v, then %v", len(w.command), first.Fault, again.Fault)
	}
	w.denials = nil
	if j := judged(p); j.Decision.Outcome != bailiff.Deny || j.Fault == nil {
		t.Errorf("a fault without a denial: %+v, %v", j.Decision, j.Fault)
	}
}

func TestAGuardSeesTheFactsOfTheText(t *testing.T) {
	w := &warden{}
	p := guarded(t, w, `{"outcome": "deny"}`)
	judged(p)
	p.Decide(context.Background(), bailiff.Request{Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: "import os"}}, ready)
	p.Decide(context.Background(), bailiff.Request{Tool: bailiff.Process, Args: bailiff.Args{Data: "id"}}, ready)
	if w.command[0].Programs[0] != "ls" || w.code[0] != nil || w.command[1] != nil || w.code[1].Imports[0] != "os" ||
		w.command[2].Programs[0] != "id" {
		t.Errorf("saw %+v and %+v", w.command, w.code)
	}
}
