package fleet

import (
	"context"
	"maps"
	"slices"
	"sync"
)

const (
	putKnownHomes = `INSERT INTO bailiff.homes (key, replica) SELECT k, $2 FROM unnest($1::bytea[]) AS k
		WHERE EXISTS (SELECT FROM bailiff.replicas WHERE id = $2 AND epoch = $3) ORDER BY k ON CONFLICT (key) DO NOTHING`
	// putAtOnce is how many rows are put in one statement.
	putAtOnce = 5000
)

// anew is what was said anew to the server that is accepted, so that an attempt goes on where the last one failed.
type anew struct {
	mu   sync.Mutex
	to   uint64 // the servers that were accepted until then
	said map[key]bool
	all  bool
}

// say puts the keys that the server was not told yet, some at a time, each time within askTime.
func (a *anew) say(ctx context.Context, accepted uint64, keys []key, put func(context.Context, []key) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.to != accepted || a.said == nil && !a.all {
		a.to, a.said, a.all = accepted, map[key]bool{}, false
	}
	if a.all {
		return nil
	}
	keys = slices.DeleteFunc(keys, func(k key) bool { return a.said[k] })
	for some := range slices.Chunk(keys, putAtOnce) {
		if err := within(ctx, func(ctx context.Context) error { return put(ctx, some) }); err != nil {
			return fault(err)
		}
		for _, k := range some {
			a.said[k] = true
		}
	}
	a.said, a.all = nil, true
	return nil
}

func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return do(ctx)
}

// SayAnew tells a PostgreSQL that may lack the last commits which sessions this sidecar is the home of, as far
// as another is not by now. After a fault it goes on where it was when it is called again.
func (h *Homes) SayAnew(ctx context.Context) error {
	var keys []key
	for k, r := range h.known.All() {
		if r.home.Mine {
			keys = append(keys, k)
		}
	}
	return h.anew.say(ctx, h.config.DB.Servers(), keys, func(ctx context.Context, some []key) error {
		_, err := h.config.DB.Own().Exec(ctx, putKnownHomes, bytesOf(some), h.config.Replica, h.config.Standing().Epoch)
		return err
	})
}

// SayAnew tells a PostgreSQL that may lack the last commits which request ids are this sidecar's. After a fault
// it goes on where it was when it is called again.
func (r *Requests) SayAnew(ctx context.Context) error {
	made := r.made.All()
	keys := slices.Collect(maps.Keys(made))
	return r.anew.say(ctx, r.config.DB.Servers(), keys, func(ctx context.Context, some []key) error {
		var digests [][]byte
		for _, k := range some {
			digest := made[k]
			digests = append(digests, digest[:])
		}
		_, err := r.config.DB.Own().Exec(ctx, claimIDs, bytesOf(some), digests, r.config.Replica, r.config.Standing().Epoch)
		return err
	})
}

func bytesOf(keys []key) (all [][]byte) {
	for _, k := range keys {
		all = append(all, slices.Clone(k[:]))
	}
	return all
}
