package approval

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

const (
	// opinionBytes and opinerBytes bound an opinion, and the name of whose it is.
	opinionBytes = 1000
	opinerBytes  = 100
)

// Opine shows an opinion of a program to those who answer. The error is [api.ErrUnknown], [ErrSettled], [api.ErrVoted] or [ErrStore].
func (b *Book) Opine(ctx context.Context, id, by, text string) error {
	o := api.Opinion{By: bailiff.Beginning(b.scrub(by), opinerBytes), Text: bailiff.Beginning(b.scrub(text), opinionBytes)}
	return b.storage.Do(ctx, state.Need{Items: []string{id}}, func(s *state.State, now time.Time) (state.Step, error) {
		return s.Opine(id, o, now)
	})
}
