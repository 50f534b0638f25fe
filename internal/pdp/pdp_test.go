package pdp

import (
	"context"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

func TestTheShippedPoliciesDecide(t *testing.T) {
	p, err := Open(context.Background(), Config{EvalTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	at := bailiff.Circumstances{Time: time.Unix(1, 0), Backends: map[string]bailiff.BackendState{"docker": {Isolated: true, Ready: true}}}
	j := p.Decide(context.Background(), bailiff.Request{
		Tool: bailiff.Terminal, Args: bailiff.Args{Command: "git status | cat"},
		Session: bailiff.Session{ID: "s", Platform: "telegram"},
	}, at)
	if j.Fault != nil || j.Decision.Outcome != bailiff.Allow || j.Decision.Backend.Name != "docker" {
		t.Errorf("got %+v", j)
	}
}
