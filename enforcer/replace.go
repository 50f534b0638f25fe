package enforcer

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// replace moves a grant whose sandbox failed before its command was started to
// another one on the same files, so that a sandbox that was lost costs no request.
// What was approved must still be what runs there.
func (e *Enforcer) replace(ctx context.Context, g grant) error {
	failed := g.held
	g.held = nil
	err := e.parts.acquire(ctx, g.judged, func(ctx context.Context) (*lease.Hold, error) {
		return e.leases.Replace(ctx, failed, e.leases.SpecOf(g.located, g.Decision))
	})
	if err != nil || len(g.files) == 0 {
		return err
	}
	files, err := g.held.Digest(ctx, g.located.Args.Workdir, g.Files)
	if err != nil {
		return fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
	}
	if !slices.Equal(files, g.files) {
		return fmt.Errorf("%w: the sandbox was lost, and with it files that the command runs; send it again", errFiles)
	}
	return nil
}
