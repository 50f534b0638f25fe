package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Sandbox is one that a sidecar has.
type Sandbox struct {
	Backend  string    `json:"backend"`
	ID       string    `json:"id"`
	Sessions []Session `json:"sessions"`
	// MayHaveMore says that other sessions may be in it, too.
	MayHaveMore bool `json:"may_have_more,omitempty"`
}

const (
	// sessionsTold are how many sessions are told of one sandbox. One that has more may have any.
	sessionsTold  = 20
	listSandboxes = "SELECT id, sandboxes FROM bailiff.replicas WHERE id = ANY($1)"
)

// sandboxes is what is told of those of this sidecar.
func (f *Fleet) sandboxes() (string, error) {
	if f.config.Sandboxes == nil {
		return "", nil
	}
	all := f.config.Sandboxes()
	for i := range all {
		if len(all[i].Sessions) > sessionsTold {
			all[i].Sessions, all[i].MayHaveMore = all[i].Sessions[:sessionsTold], true
		}
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// SandboxesOf are the sandboxes that sidecars had when they told of them last, a few seconds at most before they fell silent.
func (f *Fleet) SandboxesOf(ctx context.Context, replicas []string) (all map[string][]Sandbox, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	rows, err := f.config.DB.Own().Query(ctx, listSandboxes, replicas)
	if err != nil {
		return nil, fault(err)
	}
	all = map[string][]Sandbox{}
	var id, text string
	_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
		if text == "" {
			return nil
		}
		var of []Sandbox
		if err := json.Unmarshal([]byte(text), &of); err != nil {
			return fmt.Errorf("the sandboxes of sidecar %s: %w", id, err)
		}
		all[id] = of
		return nil
	})
	return all, fault(err)
}
