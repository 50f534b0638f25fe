package approval

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/jackc/pgx/v5"
	"go.etcd.io/bbolt"

	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
)

// Move takes all that a book's file holds into a shared store, once, and returns how many
// approvals that were. The file is called .moved then, so that no book goes on with it. Without
// a file there is nothing to move.
func Move(ctx context.Context, path string, db *postgres.DB) (moved int, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	s, c, err := openStore(path)
	if err != nil {
		return 0, fmt.Errorf("opening the store of approvals %s: %w%s", path, err, repair(path))
	}
	defer func() { err = errors.Join(err, s.close()) }()
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
		moved = len(c.items)
		return moveAll(ctx, tx, s, c)
	})
	if err != nil {
		return 0, fmt.Errorf("moving the store of approvals %s: %w", path, err)
	}
	return moved, os.Rename(path, path+".moved")
}

// moveAll writes all of a file's records. Approvals get numbers of their own there.
func moveAll(ctx context.Context, tx pgx.Tx, s *store, c *contents) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(freezeLock)); err != nil {
		return err
	}
	t := step{grants: c.grants, frozen: c.freezes}
	for _, i := range c.items {
		text, err := s.claimText(i.Seq)
		if err != nil {
			return err
		}
		var seq int64
		if err := tx.QueryRow(ctx, "SELECT nextval('bailiff.numbers')").Scan(&seq); err != nil {
			return err
		}
		i.Seq = uint64(seq)
		t.items = append(t.items, i)
		if text != nil {
			t.claims = append(t.claims, stored{i.Seq, text})
		}
	}
	b := &pgx.Batch{}
	if err := queue(b, t); err != nil {
		return err
	}
	b.Queue(countFreezes)
	for _, e := range c.events {
		if _, err := queueEvent(b, movedEvents, e); err != nil {
			return err
		}
	}
	return tx.SendBatch(ctx, b).Close()
}

// movedEvents is the name under which events wait that no replica has logged: the first takes
// them as those of one that is gone.
const movedEvents = ""

// claimText is the text of a claim; nil if there is none any more.
func (s *store) claimText(seq uint64) (text []byte, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		record := tx.Bucket(claimBucket).Get(number(seq))
		if record == nil {
			return nil
		}
		found, err := verified(claimBucket, number(seq), record)
		text = append(text, found...)
		return err
	})
	return text, err
}
