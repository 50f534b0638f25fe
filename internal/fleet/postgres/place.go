package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Place is where in a server's history it is: a standby that was promoted is on another timeline, and a server
// that was restored is another system, on another timeline, or not as far as it was.
type Place struct {
	// Server names system and timeline.
	Server string
	// Position is how far its log goes.
	Position int64
}

// SelectPlace finds the [Place] of a server. One that is a standby still refuses it.
const SelectPlace = `SELECT (SELECT system_identifier FROM pg_control_system()) || ' ' ||
	substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8), (pg_current_wal_flush_lsn() - '0/0')::bigint`

// ErrMoved is of a server that is not the one that was accepted: what was committed last may be missing in it.
var ErrMoved = errors.New("another server answers than before: a standby was promoted, or a backup was restored")

// IsAfter is nil if a place is one that the same server comes to after another.
func (p Place) IsAfter(before Place) error {
	if p.Server != before.Server || p.Position < before.Position {
		return ErrMoved
	}
	return nil
}

// Accept has connections lead to the server that is there now only. From then on none is used that leads to
// another one.
func (db *DB) Accept(p Place) {
	before := db.accepted.Swap(&p)
	if before == nil || p.IsAfter(*before) != nil {
		db.servers.Add(1)
	}
	if before != nil && before.Server != p.Server {
		db.pool.Reset()
		db.own.Reset()
	}
}

// Servers counts those that were accepted one after another, and one anew that was put back.
func (db *DB) Servers() uint64 { return db.servers.Load() }

// LastPlace is the place that was accepted last; false if none was yet.
func (db *DB) LastPlace() (Place, bool) {
	p := db.accepted.Load()
	if p == nil {
		return Place{}, false
	}
	return *p, true
}

// Connect connects to whichever server answers, be it accepted or not.
func (db *DB) Connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.ConnectConfig(ctx, db.config.Copy())
}

// isAccepted refuses a connection to another server than the accepted one.
func (db *DB) isAccepted(ctx context.Context, conn *pgx.Conn) error {
	before, known := db.LastPlace() // first: what is accepted while the server answers may be further than its answer
	var p Place
	if err := conn.QueryRow(ctx, SelectPlace).Scan(&p.Server, &p.Position); err != nil {
		return fmt.Errorf("asking PostgreSQL which server it is: %w", err)
	}
	if known {
		return p.IsAfter(before)
	}
	return nil
}
