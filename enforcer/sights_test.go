package enforcer

import (
	"errors"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestAProjectIsNotedBeforeASandboxShowsItOrNothingRuns(t *testing.T) {
	folder := t.TempDir()
	noted := 0
	var b *bench
	b = leaving(t, folder, func() error { noted = len(b.projects.entries()); return nil })
	if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed || noted == 0 {
		t.Errorf("it is %s with %d folders noted, want it to run with one noted: %s", a.Status, noted, a.Message)
	}
	b = leaving(t, t.TempDir(), func() error { t.Error("it ran"); return nil })
	b.projects.fault = errors.New("no space is left")
	a := b.Execute(t.Context(), request("ls"), nil)
	if d := a.Decision; a.Status != bailiff.Refused || len(d.Denials) != 1 || d.Denials[0].Rule != ruleUnnoted {
		t.Errorf("it is %s: %v, want a denial by %s", a.Status, d.Denials, ruleUnnoted)
	}
}
