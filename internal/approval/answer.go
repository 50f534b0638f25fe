package approval

import (
	"context"
	"errors"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// Answer gives one person's verdict on an approval. One no denies it; the last
// yes that is needed approves it, with the narrowest scope that was voted for.
// The error is [api.ErrUnknown], [ErrSettled], [ErrScope], [ErrIneligible],
// [api.ErrProof], [ErrVoted] or [ErrStore].
func (b *Book) Answer(ctx context.Context, id string, who bailiff.Approver, v bailiff.Verdict) (api.Entry, error) {
	replans := b.replans.Load()
	p, err := b.poll(id, who, v.Approve)
	if err != nil {
		return api.Entry{}, err
	}
	v.Reason = b.scrub(v.Reason)
	var answered api.Entry
	err = b.storage.Do(ctx, state.Need{Items: []string{id}}, func(s *state.State, now time.Time) (t state.Step, err error) {
		if b.replans.Load() != replans {
			return state.Step{}, errReplanned
		}
		t, answered, err = p.Answer(s, id, who, v, now)
		return t, err
	})
	if errors.Is(err, errReplanned) {
		return b.Answer(ctx, id, who, v)
	}
	if err != nil {
		return api.Entry{}, err
	}
	if v.Match != "" {
		b.config.Observer.PatternApproved(answered.Request.Session.Platform)
	}
	return answered, nil
}

// poll looks at a pending approval that may be answered by who. The router is
// asked outside of the writer, which is everyone's.
func (b *Book) poll(id string, who bailiff.Approver, approve bool) (p state.Poll, err error) {
	if err := b.Err(); err != nil {
		return p, err
	}
	i := b.item(id)
	if i == nil {
		return p, state.Unknown(id)
	}
	if !i.Pending() {
		return p, state.Refuse(api.ErrSettled, "%s", i.Entry.WhyClosed())
	}
	text, found, err := b.claim(i)
	if err != nil {
		return p, err
	}
	if !found {
		return p, state.Unknown(id)
	}
	c := text.Claim(i.Entry.DecisionID)
	if err := b.config.Router.May(who, c, i.Entry.Plan.Route); err != nil {
		kind := api.ErrIneligible
		if errors.Is(err, api.ErrProof) {
			kind = api.ErrProof
		}
		return p, state.Refuse(kind, "%s", err)
	}
	p = state.Poll{Text: text, Barred: b.barred(c, i.Entry.Votes, i.Entry.Plan.Route)}
	if !approve {
		return p, nil
	}
	if p.Plan, err = b.config.Router.Plan(c); err != nil {
		return p, state.Refuse(api.ErrIneligible, "%s", err)
	}
	return p, nil
}

// barred says of those votes that do not count by that route now why not, by
// their credentials.
func (b *Book) barred(c bailiff.Claim, votes []api.Vote, route string) map[string]error {
	barred := map[string]error{}
	for _, v := range votes {
		if err := b.config.Router.May(state.ApproverOf(v), c, route); err != nil {
			barred[v.Credential] = err
		}
	}
	return barred
}

// Revoke ends a grant. The error is [api.ErrUnknown] or [ErrStore].
func (b *Book) Revoke(ctx context.Context, id string, who bailiff.Approver) (api.Grant, error) {
	var revoked api.Grant
	err := b.storage.Do(ctx, state.Need{Grants: []string{id}}, func(s *state.State, now time.Time) (t state.Step, err error) {
		t, revoked, err = s.Revoke(id, who, now)
		return t, err
	})
	if err != nil {
		return api.Grant{}, err
	}
	return revoked, nil
}
