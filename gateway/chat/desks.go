package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Ledger is what is pending, and ends what can be put to nobody.
type Ledger interface {
	List(q api.Query) (entries []api.Entry, next string)
	Unreachable(ctx context.Context, id, reason string) error
}

// Desks are those of all services. They end what none of them could put to anybody while
// no channel works that it could be answered by: whoever asked is told at once.
type Desks struct {
	all    map[string]*Desk
	ledger Ledger
	log    *slog.Logger
	look   chan struct{} // holds one signal while somebody is to look
}

// NewDesks has no desk yet; all are added before Run.
func NewDesks(ledger Ledger, log *slog.Logger) *Desks {
	return &Desks{all: map[string]*Desk{}, ledger: ledger, log: log, look: make(chan struct{}, 1)}
}

// Add adds a desk, whose Changed becomes that of all.
func (ds *Desks) Add(d *Desk) {
	d.config.Changed = ds.changed
	ds.all[d.config.Service] = d
}

func (ds *Desks) changed() {
	select {
	case ds.look <- struct{}{}:
	default:
	}
}

// Down is why nobody can be asked by a channel now; nil if somebody can, or it is time to
// try, and for channels that are no chat service.
func (ds *Desks) Down(channel string) error {
	if d := ds.all[channel]; d != nil {
		return d.Down()
	}
	return nil
}

// Reachable is nil if a channel of a plan works.
func (ds *Desks) Reachable(p api.Plan) error {
	var why []string
	for _, channel := range p.Channels {
		err := ds.Down(channel)
		if err == nil {
			return nil
		}
		why = append(why, fmt.Sprintf("%s: %v", channel, err))
	}
	return fmt.Errorf("no channel of route %s works: %s", p.Route, strings.Join(why, ", "))
}

// Run ends what nobody can be asked about, until ctx ends.
func (ds *Desks) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ds.look:
			ds.review(ctx)
		}
	}
}

func (ds *Desks) review(ctx context.Context) {
	for q := (api.Query{State: bailiff.ApprovalPending}); ; {
		entries, next := ds.ledger.List(q)
		for _, e := range entries {
			ds.consider(ctx, e)
		}
		if next == "" {
			return
		}
		q.After = next
	}
}

// consider ends an approval that stands nowhere, and that no channel could show now.
func (ds *Desks) consider(ctx context.Context, e api.Entry) {
	var why []string
	for _, channel := range e.Plan.Channels {
		err := ds.Down(channel)
		if err == nil || ds.all[channel].Shows(e.ID) {
			return
		}
		why = append(why, fmt.Sprintf("%s (%v)", channel, err))
	}
	reason := "no channel works by which somebody could answer: " + strings.Join(why, ", ")
	err := ds.ledger.Unreachable(ctx, e.ID, reason)
	if err != nil && !errors.Is(err, api.ErrSettled) && !errors.Is(err, api.ErrUnknown) {
		ds.log.Error("ending an approval that nobody can be asked about", "approval", e.ID, "error", err)
	}
}
