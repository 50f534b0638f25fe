package app

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// policyHistory lets operators put former policies in force, who may lift what policies
// impose: older ones may allow more.
type policyHistory struct{ *core }

func (l policyHistory) Revisions() ([]api.Revision, error) {
	all, err := l.history.All()
	shown := make([]api.Revision, len(all))
	for i, r := range all {
		shown[i] = api.Revision(r)
	}
	return shown, err
}

func (l policyHistory) Revision(name string) (api.Revision, []api.PolicyFile, error) {
	r, err := l.history.Find(name)
	if err != nil {
		return api.Revision{}, nil, err
	}
	files, err := l.policies.Former(r)
	shown := make([]api.PolicyFile, len(files))
	for i, f := range files {
		shown[i] = api.PolicyFile{Name: f.Name, Text: string(f.Text)}
	}
	return api.Revision(r), shown, err
}

func (l policyHistory) RollBack(ctx context.Context, revision, reason string, who bailiff.Approver) error {
	if err := l.roster.mayLift(who); err != nil {
		return err
	}
	word := api.Rollback{Revision: revision, By: who.Name(), Via: who.Via(), Reason: reason, At: time.Now().UTC()}
	return l.change(ctx, "the rollback failed", func(record func(api.Rollback) error) error {
		return l.policies.RollBack(ctx, word, record)
	})
}

func (l policyHistory) Resume(ctx context.Context, who bailiff.Approver) error {
	if err := l.roster.mayLift(who); err != nil {
		return err
	}
	word := api.Rollback{By: who.Name(), Via: who.Via(), At: time.Now().UTC()}
	return l.change(ctx, "ending the rollback failed", func(record func(api.Rollback) error) error {
		return l.policies.Resume(ctx, func() error { return record(word) })
	})
}

// change has the decision log hold what is about to change before it does, and that
// it failed if it did after that.
func (l policyHistory) change(ctx context.Context, failed string, by func(record func(api.Rollback) error) error) error {
	var recorded *api.Rollback
	err := by(func(word api.Rollback) error {
		if err := l.decisions.Record(ctx, l.event(word, saidOf(word))); err != nil {
			return fmt.Errorf("recording it in the decision log: %w", err)
		}
		recorded = &word
		return nil
	})
	if err != nil && recorded != nil {
		l.decisions.Note(l.event(*recorded, fmt.Sprintf("%s: %v", failed, err)))
	}
	return err
}

func saidOf(word api.Rollback) string {
	if word.Revision == "" {
		return word.By + " ended the rollback"
	}
	return fmt.Sprintf("%s rolled back to %.12s: %q", word.By, word.Revision, word.Reason)
}

func (l policyHistory) event(word api.Rollback, message string) api.Event {
	return api.Event{
		DecisionID: audit.NewID(), Timestamp: time.Now().UTC(), RequestedBy: bailiff.ChannelOperator,
		Bundles: map[string]api.Bundle{"policies": {Revision: word.Revision}},
		Custom:  api.Custom{Event: api.ReloadEvent, Message: message, Rollback: &word},
	}
}
