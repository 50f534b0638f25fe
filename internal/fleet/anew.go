package fleet

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

const (
	putKnownHomes = `INSERT INTO bailiff.homes (key, replica) SELECT k, $2 FROM unnest($1::bytea[]) AS k
		WHERE EXISTS (SELECT FROM bailiff.replicas WHERE id = $2 AND epoch = $3) ORDER BY k ON CONFLICT (key) DO NOTHING`
	// putAtOnce is how many rows are put in one statement.
	putAtOnce = 5000
)

// SayAnew tells a PostgreSQL that may lack the last commits which sessions this sidecar is the home of, as far
// as another is not by now.
func (h *Homes) SayAnew(ctx context.Context) error {
	var keys [][]byte
	for k, r := range h.known.All() {
		if r.home.Mine {
			keys = append(keys, k[:])
		}
	}
	b := &pgx.Batch{}
	for some := range slices.Chunk(keys, putAtOnce) {
		b.Queue(putKnownHomes, some, h.config.Replica, h.config.Standing().Epoch)
	}
	return fault(h.config.DB.Own().SendBatch(ctx, b).Close())
}

// SayAnew tells a PostgreSQL that may lack the last commits which request ids are this sidecar's.
func (r *Requests) SayAnew(ctx context.Context) error {
	made, b := r.made.All(), &pgx.Batch{}
	for some := range slices.Chunk(slices.Collect(maps.Keys(made)), putAtOnce) {
		var keys, digests [][]byte
		for _, k := range some {
			digest := made[k]
			keys, digests = append(keys, k[:]), append(digests, digest[:])
		}
		b.Queue(claimIDs, keys, digests, r.config.Replica, r.config.Standing().Epoch)
	}
	return fault(r.config.DB.Own().SendBatch(ctx, b).Close())
}
