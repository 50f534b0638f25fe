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

// ApprovalEnder lists approvals, and ends those that no person can be asked for.
type ApprovalEnder interface {
	List(q api.Query) (entries []api.Entry, next string)
	Unreachable(ctx context.Context, id, reason string) error
}

// Notifiers are the notifiers of all services. They end a pending approval that is shown
// nowhere while no channel works by which it could be answered, so that the requester knows
// at once.
type Notifiers struct {
	byService map[string]*Notifier
	approvals ApprovalEnder
	log       *slog.Logger
	changes   chan struct{} // holds one signal while services changed that were not looked at yet
}

// NewNotifiers returns none; all are added before Run.
func NewNotifiers(approvals ApprovalEnder, log *slog.Logger) *Notifiers {
	return &Notifiers{byService: map[string]*Notifier{}, approvals: approvals, log: log, changes: make(chan struct{}, 1)}
}

// Add adds a notifier, and sets its Changed.
func (ns *Notifiers) Add(n *Notifier) {
	n.config.Changed = ns.review
	ns.byService[n.config.Service] = n
}

func (ns *Notifiers) review() {
	select {
	case ns.changes <- struct{}{}:
	default:
	}
}

// Down is why no person can be asked by a channel now. It is nil if one can, if it is time
// to try again, and for channels that are no chat service.
func (ns *Notifiers) Down(channel string) error {
	if n := ns.byService[channel]; n != nil {
		return n.Down()
	}
	return nil
}

// Reachable is nil if a channel of a plan works.
func (ns *Notifiers) Reachable(p api.Plan) error {
	var why []string
	for _, channel := range p.Channels {
		err := ns.Down(channel)
		if err == nil {
			return nil
		}
		why = append(why, fmt.Sprintf("%s: %v", channel, err))
	}
	return fmt.Errorf("no channel of route %s works: %s", p.Route, strings.Join(why, ", "))
}

// Run ends approvals that no person can be asked for, until ctx ends.
func (ns *Notifiers) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ns.changes:
			ns.endUnreachable(ctx)
		}
	}
}

func (ns *Notifiers) endUnreachable(ctx context.Context) {
	for q := (api.Query{State: bailiff.ApprovalPending}); ; {
		entries, next := ns.approvals.List(q)
		for _, e := range entries {
			ns.endIfUnreachable(ctx, e)
		}
		if next == "" {
			return
		}
		q.After = next
	}
}

// endIfUnreachable ends an approval that is shown nowhere, and that no channel can show now.
func (ns *Notifiers) endIfUnreachable(ctx context.Context, e api.Entry) {
	var why []string
	for _, channel := range e.Plan.Channels {
		err := ns.Down(channel)
		if err == nil || ns.byService[channel].Shows(e.ID) {
			return
		}
		why = append(why, fmt.Sprintf("%s (%v)", channel, err))
	}
	reason := "no channel works by which somebody could answer: " + strings.Join(why, ", ")
	err := ns.approvals.Unreachable(ctx, e.ID, reason)
	if err != nil && !errors.Is(err, api.ErrSettled) && !errors.Is(err, api.ErrUnknown) {
		ns.log.Error("ending an approval that nobody can be asked about", "approval", e.ID, "error", err)
	}
}
