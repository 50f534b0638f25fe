package shared

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/internal/approval/file"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
)

// Move takes all that a book's file holds into a shared store, once, and returns how many
// approvals that were. The file is called .moved then, so that no book goes on with it. Without
// a file there is nothing to move.
func Move(ctx context.Context, path string, db *postgres.DB) (moved int, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	s, c, err := file.OpenRecords(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	book := sha256.Sum256(text)
	err = pgx.BeginFunc(ctx, db.Own(), func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "INSERT INTO bailiff.moved (book) VALUES ($1) ON CONFLICT DO NOTHING", book[:])
		if err != nil || tag.RowsAffected() == 0 {
			return err // it was moved before
		}
		moved = len(c.Items)
		return moveAll(ctx, tx, s, c)
	})
	if err != nil {
		return 0, fmt.Errorf("moving the store of approvals %s: %w", path, err)
	}
	return moved, os.Rename(path, path+".moved")
}

// moveAll writes all of a file's records. Approvals get numbers of their own there.
func moveAll(ctx context.Context, tx pgx.Tx, s *file.Records, c *state.Contents) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(freezeLock)); err != nil {
		return err
	}
	t := state.Step{Grants: c.Grants, Frozen: c.Freezes}
	for _, i := range c.Items {
		text, err := s.ClaimText(i.Seq)
		if err != nil {
			return err
		}
		var seq int64
		if err := tx.QueryRow(ctx, "SELECT nextval('bailiff.numbers')").Scan(&seq); err != nil {
			return err
		}
		i.Seq = uint64(seq)
		t.Items = append(t.Items, i)
		if text != nil {
			t.Claims = append(t.Claims, state.Stored{Seq: i.Seq, Text: text})
		}
	}
	b := &pgx.Batch{}
	if err := queue(b, t); err != nil {
		return err
	}
	b.Queue(countFreezes)
	for _, e := range c.Events {
		if _, err := queueEvent(b, movedEvents, e); err != nil {
			return err
		}
	}
	return tx.SendBatch(ctx, b).Close()
}

// movedEvents is the name under which events wait that no replica has logged: the first takes
// them as those of one that is gone.
const movedEvents = ""
