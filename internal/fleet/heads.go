package fleet

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
)

// LogHead is how far the decision log of a sidecar went when it told the others last, in one of
// its runs.
type LogHead struct {
	// Replica is the sidecar's name, Chain that of its log.
	Replica, Chain string
	Time           time.Time
	// Lines are all that were ever written, Hash is that of the last of them.
	Lines int64
	Hash  string
}

const (
	// tellHead tells of the lines of this run. What was told of earlier runs stays: a log that
	// was cut short in between does not have the line that is told of there.
	tellHead = `INSERT INTO bailiff.log_heads AS h (chain, replica, epoch, told, lines, hash)
		SELECT $1, $2, $3, clock_timestamp(), $4, $5
		WHERE EXISTS (SELECT FROM bailiff.replicas WHERE id = $2 AND epoch = $3)
		ON CONFLICT (chain, replica, epoch) DO UPDATE SET told = excluded.told, lines = excluded.lines, hash = excluded.hash
		WHERE h.lines < excluded.lines`
	// The last that is known of a log is kept for good.
	forgetHeads = `DELETE FROM bailiff.log_heads h WHERE told < clock_timestamp() - interval '400 days' AND
		EXISTS (SELECT FROM bailiff.log_heads later WHERE later.chain = h.chain AND later.told > h.told)`
	listHeads = "SELECT replica, chain, told, lines, hash FROM bailiff.log_heads ORDER BY replica, told"
)

// Heads lists how far the logs of all sidecars went, those that are gone too.
func Heads(ctx context.Context, db *postgres.DB) ([]LogHead, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	rows, err := db.Own().Query(ctx, listHeads)
	if err != nil {
		return nil, fault(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h LogHead, err error) {
		err = row.Scan(&h.Replica, &h.Chain, &h.Time, &h.Lines, &h.Hash)
		h.Time = h.Time.UTC()
		return h, err
	})
	return all, fault(err)
}
