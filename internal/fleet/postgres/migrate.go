package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiff-dev/bailiff"
)

// version is that of the tables that this program goes by, and the number of migrations.
const version = 7

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock keeps two programs from migrating at once.
const migrationLock = 0x6261696c6966 // "bailif"

// Migrate makes the tables, or adds what they lack, and returns how many steps that took. Where nothing is lacking it
// needs no right to make tables.
func (db *DB) Migrate(ctx context.Context) (steps int, err error) {
	if db.Check(ctx) == nil {
		return 0, nil
	}
	err = pgx.BeginFunc(ctx, db.own, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS bailiff"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS bailiff.versions (version int PRIMARY KEY)"); err != nil {
			return err
		}
		before, err := versionOf(ctx, tx)
		if err != nil {
			return err
		}
		for next := before + 1; next <= version; next++ {
			if err := migrate(ctx, tx, next); err != nil {
				return fmt.Errorf("migration %d: %w", next, err)
			}
			steps++
		}
		return nil
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == notPermitted {
		return 0, fmt.Errorf("migrating PostgreSQL: %w: user %s may not make tables; give the connection string of one that may "+
			"with --dsn-file", err, db.User())
	}
	if err != nil {
		return 0, fmt.Errorf("migrating PostgreSQL: %w", err)
	}
	return steps, nil
}

// notPermitted is PostgreSQL's code of what a user may not do.
const notPermitted = "42501"

// User is who the connections are made as.
func (db *DB) User() string { return db.config.User }

// UserOf is who connections of a connection string are made as.
func UserOf(dsn bailiff.Secret) (string, error) {
	config, err := pgx.ParseConfig(dsn.Reveal())
	if err != nil {
		return "", errUnread
	}
	return config.User, nil
}

// The rights that a sidecar needs, on what there is and on what its owner makes later.
var rights = []string{
	"GRANT USAGE ON SCHEMA bailiff TO %s",
	"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bailiff TO %s",
	"GRANT USAGE ON ALL SEQUENCES IN SCHEMA bailiff TO %s",
	"ALTER DEFAULT PRIVILEGES IN SCHEMA bailiff GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %s",
	"ALTER DEFAULT PRIVILEGES IN SCHEMA bailiff GRANT USAGE ON SEQUENCES TO %s",
}

// GrantTo lets a user use the tables, and those of later migrations by the same owner.
func (db *DB) GrantTo(ctx context.Context, user string) error {
	err := pgx.BeginFunc(ctx, db.own, func(tx pgx.Tx) error {
		for _, right := range rights {
			if _, err := tx.Exec(ctx, fmt.Sprintf(right, pgx.Identifier{user}.Sanitize())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("letting user %s use the tables in PostgreSQL: %w", user, err)
	}
	return nil
}

func migrate(ctx context.Context, tx pgx.Tx, number int) error {
	text, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", number))
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(text)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO bailiff.versions (version) VALUES ($1)", number)
	return err
}

type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func versionOf(ctx context.Context, q queryer) (found int, err error) {
	err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM bailiff.versions").Scan(&found)
	return found, err
}

// missing are PostgreSQL's codes of what is not there.
var missing = map[string]bool{"42P01": true, "3F000": true}

// Check is nil if the database has the tables that this program goes by. A newer one has them
// too, since migrations only add.
func (db *DB) Check(ctx context.Context) error {
	found, err := versionOf(ctx, db.own)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && missing[refused.Code] {
		return errors.New(`PostgreSQL has no tables of bailiff yet: run "bailiff store migrate"`)
	}
	if err != nil {
		return fmt.Errorf("asking PostgreSQL for its version of the tables: %w", err)
	}
	if found < version {
		return fmt.Errorf(`PostgreSQL's tables are of version %d, and this bailiff goes by version %d: run "bailiff store migrate"`, found,
			version)
	}
	return nil
}
