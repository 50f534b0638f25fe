package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/watermark"
)

// openApprovals opens what remembers approvals, grants and freezes.
func (c *core) openApprovals(ctx context.Context) error {
	var err error
	if c.roster.logins, err = openLogins(c.cfg.StateDir, c.log); err != nil {
		return err
	}
	roster, err := people.New(c.cfg, c.roster.logins)
	if err != nil {
		return err
	}
	c.roster.now.Store(roster)
	book := approval.Config{
		Path: ApprovalsFile(c.cfg), Router: &c.roster, Recorder: c.decisions, Observer: c.metrics,
		Reachable: c.roster.reachable, Caps: approval.Caps(c.cfg.Limits.PendingApprovals), Scrub: c.scrubber.Scrub, Log: c.log,
	}
	if c.cfg.Store.Postgres.DSN.IsSet() {
		book.Shared, err = c.openShared(ctx, book.Path)
	}
	if err == nil {
		c.approvals, err = approval.Open(book)
	}
	if err != nil {
		return fmt.Errorf("opening the approvals: %w", err)
	}
	return nil
}

// ApprovalsFile is where approvals are kept that no other sidecar shares.
func ApprovalsFile(cfg *config.Config) string { return filepath.Join(cfg.StateDir, "approvals.db") }

// openShared opens the database. A file with freezes and grants of its own must not be left
// beside it unread.
func (c *core) openShared(ctx context.Context, file string) (*shared.Config, error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("%s holds approvals, grants and freezes of this sidecar alone: stop it and run "+
			"\"bailiff store migrate\", which moves them to PostgreSQL", file))
	}
	again := func(part func(context.Context) error) error { return c.awaitAnswer(ctx, part) }
	err := again(func(context.Context) (err error) {
		c.database, err = OpenDatabase(context.WithoutCancel(ctx), c.cfg.Store.Postgres) // which lasts until the sidecar has stopped
		return err
	})
	if err != nil {
		return nil, err
	}
	return &shared.Config{DB: c.database, Replica: c.cfg.Store.Replica, Froze: c.haltFrozen, Moved: c.sayAnew, Again: again,
		Mark: watermark.File(filepath.Join(c.cfg.StateDir, "store.mark"))}, nil
}

// OpenDatabase connects to the database that sidecars share.
func OpenDatabase(ctx context.Context, p config.Postgres) (*postgres.DB, error) {
	dsn, err := p.DSN.Read()
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Config{DSN: dsn, CAFile: p.CAFile})
}

// haltFrozen stops what runs here and another sidecar has frozen.
func (c *core) haltFrozen(ctx context.Context) {
	if !c.halts.Load() {
		return // nothing has been started yet
	}
	if err := (freezer{c}).halt(ctx); err != nil {
		c.log.Error("stopping what another sidecar has frozen", "error", err)
	}
}

// enforcerApprovals are the approvals as the enforcer needs them.
type enforcerApprovals struct{ *approval.Book }

// Void counts it as done where nothing is left to take back, since one of several
// identical requests that waited was faster.
func (a enforcerApprovals) Void(ctx context.Context, id, reason string) error {
	err := a.Book.Void(ctx, id, reason)
	if errors.Is(err, api.ErrSettled) || errors.Is(err, api.ErrUnknown) {
		return nil
	}
	return err
}
