package enforcer

import (
	"slices"
	"testing"
)

func TestAKeptWorkspaceIsKnownByTheVariablesThatItGot(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"GITHUB_TOKEN": "ghp-12345678"}
		b.judge.decision = allow(forward("GITHUB_TOKEN"))
		b.judge.decision.Backend.Persistent = true
	})
	for range 2 { // the second time it is known
		req := request("env")
		req.Env = []string{"GITHUB_TOKEN"}
		b.Execute(t.Context(), req, nil)
		b.kept.mu.Lock()
		for key, w := range b.kept.all {
			if !slices.Equal(w.Variables, []string{"GITHUB_TOKEN"}) {
				t.Errorf("workspace %s got %v", key, w.Variables)
			}
		}
		if len(b.kept.all) != 1 {
			t.Errorf("kept are %v", b.kept.all)
		}
		b.kept.mu.Unlock()
	}
}
