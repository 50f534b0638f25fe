package offline

import (
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// plan is a backend that is configured and not asked for anything.
type plan struct {
	isolated bool
	start    string
}

func plannedBackends(c config.Backends) map[string]backends.Backend {
	all := map[string]backends.Backend{}
	for name, section := range c {
		p := plan{isolated: section.Isolated()}
		if s, ok := section.(backends.Starter); ok {
			p.start = s.Start()
		}
		all[name] = p
	}
	return all
}

func (p plan) Start() string { return p.start }

func (p plan) Isolated() bool            { return p.isolated }
func (plan) Ready(context.Context) error { return nil }
func (plan) Open(context.Context, backends.Spec) (backends.Sandbox, error) {
	return nil, backends.ErrUnavailable
}

// nowhere records nothing.
type nowhere struct{}

func (nowhere) Record(context.Context, api.Event) error { return nil }
func (nowhere) Note(api.Event)                          {}
func (nowhere) Err() error                              { return nil }

// blank is a ledger in which nothing stands.
type blank[T records.Entry] struct{}

func (blank[T]) Keep(T) error      { return nil }
func (blank[T]) Drop(string) error { return nil }
func (blank[T]) All() ([]T, error) { return nil, nil }

// unasked are the approvals of a judge: nothing is frozen, and nothing is asked.
type unasked struct{ enforcer.Approvals }

func (unasked) Frozen(bailiff.Session) (string, bool) { return "", false }
