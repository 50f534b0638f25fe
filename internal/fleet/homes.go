package fleet

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

const (
	// maxHomes is how many homes are remembered at least.
	maxHomes = 50_000
	// confirmEvery is after what time a home is looked up anew, by which it counts as used.
	// noneFor is how long it is believed that a session has none.
	confirmEvery = time.Hour
	noneFor      = 30 * time.Second
)

// Session is what has a home: a session of a caller's. The sessions of a user begin at the
// home of the others, since they may share a sandbox.
type Session struct{ Caller, ID, Platform, User string }

// SessionOf is that of a request.
func SessionOf(req bailiff.Request) Session {
	return Session{req.Caller, req.Session.ID, req.Session.Platform, req.Session.UserID}
}

func (s Session) key() key { return keyOf("session", s.Caller, s.ID) }

// userKey is the zero key where the session names no user.
func (s Session) userKey() key {
	if s.User == "" {
		return key{}
	}
	return keyOf("user", s.Caller, s.Platform, s.User)
}

// Home is the sidecar that serves a session.
type Home struct {
	// Replica is its name, empty where the session has no home. Address is where others reach it.
	Replica, Address string
	// Mine says that it is this one.
	Mine bool
}

// remembered is what was known of a home at a time.
type remembered struct {
	home     Home
	asked    time.Time // before PostgreSQL was asked
	silences uint64
}

// Homes say who serves a session.
type Homes struct {
	*Fleet
	known *recent.Map[key, remembered]
}

// Homes returns the homes of the fleet's sessions.
func (f *Fleet) Homes() *Homes { return &Homes{f, recent.New[key, remembered](maxHomes)} }

// Of is the home of a session, which is this sidecar where there is none.
func (h *Homes) Of(ctx context.Context, s Session) (Home, error) {
	if home, found := h.recall(s.key()); found && home.Replica != "" {
		return home, nil
	}
	home, err := h.look(ctx, s)
	if err != nil || home.Replica != "" {
		return home, err
	}
	return h.take(ctx, s)
}

// Known is the home of a session that may have none.
func (h *Homes) Known(ctx context.Context, s Session) (Home, error) {
	if home, found := h.recall(s.key()); found {
		return home, nil
	}
	return h.look(ctx, s)
}

// Serves is nil if this sidecar is the home of a session by now, or if none is. It asks PostgreSQL only if
// this sidecar was silent since that was known, or knows of no home: one that is gone may have taken the
// session over, and have run something in it.
func (h *Homes) Serves(ctx context.Context, s Session) error {
	home, err := h.Known(ctx, s)
	switch {
	case err != nil:
		return err
	case home.Replica != "" && !home.Mine:
		return fmt.Errorf("sidecar %s does", home.Replica)
	case home.Mine:
		return nil
	}
	lost, err := h.Lost(ctx, []Session{s})
	if err == nil && len(lost) > 0 {
		err = errors.New("a sidecar that is gone took it over")
	}
	return err
}

// Forget has a home looked up anew that proved to be another one.
func (h *Homes) Forget(s Session) { h.known.Take(s.key()) }

// recall is what is remembered and can be relied on. Of another's home that is so until it says
// otherwise.
func (h *Homes) recall(k key) (Home, bool) {
	r, found := h.known.Get(k)
	if !found || time.Since(r.asked) > confirmEvery || r.home.Replica == "" && time.Since(r.asked) > noneFor {
		return Home{}, false
	}
	if r.home.Mine {
		if s := h.config.Standing(); s.Err != nil || s.Silences != r.silences {
			return Home{}, false
		}
	}
	return r.home, true
}

// found takes in what PostgreSQL said when it was asked at a time.
func (h *Homes) found(k key, home Home, asked time.Time, s Standing) Home {
	home.Mine = home.Replica == h.config.Replica
	h.known.Put(k, remembered{home, asked, s.Silences})
	return home
}

// homeOf finds none where the home is no living sidecar's. A sidecar's own homes are its own
// however long it was silent, if no other took them.
const homeOf = `SELECT h.replica, r.address FROM bailiff.homes h JOIN bailiff.replicas r ON r.id = h.replica
	WHERE h.key = $1 AND (r.id = $2 OR r.address <> '' AND r.seen > clock_timestamp() - make_interval(secs => $3))`

const useHome = "UPDATE bailiff.homes SET used = clock_timestamp() WHERE key = $1 AND used < clock_timestamp() - interval '1 hour'"

// look asks PostgreSQL for a home.
func (h *Homes) look(ctx context.Context, s Session) (home Home, err error) {
	asked, standing := time.Now(), h.config.Standing()
	if standing.Err != nil {
		return home, standing.Err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	k, b := s.key(), &pgx.Batch{}
	b.Queue(useHome, k[:])
	b.Queue(homeOf, k[:], h.config.Replica, deadAfter.Seconds()).QueryRow(scanHome(&home))
	if err := h.config.DB.Pool().SendBatch(ctx, b).Close(); err != nil {
		return home, fault(err)
	}
	return h.found(k, home, asked, standing), nil
}

func scanHome(home *Home) func(pgx.Row) error {
	return func(row pgx.Row) error {
		if err := row.Scan(&home.Replica, &home.Address); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	}
}

// errFenced ends what goes by an older epoch.
var errFenced = errors.New("another sidecar has taken the name of this replica")

// fenced tells that fault from others of PostgreSQL's.
func fenced(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == divisionByZero {
		return errFenced
	}
	return err
}

const divisionByZero = "22012"

const (
	// stillMe divides by zero where this sidecar's name is another's by now, which ends the
	// transaction.
	stillMe = "SELECT 1 / count(*) FROM bailiff.replicas WHERE id = $1 AND epoch = $2"
	putHome = `INSERT INTO bailiff.homes (key, replica) VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE SET replica = excluded.replica, used = clock_timestamp()`
)

// take makes this sidecar the home of a session, or the one that is the home of its user. Two
// that take the same wait for each other.
func (h *Homes) take(ctx context.Context, s Session) (home Home, err error) {
	asked, standing := time.Now(), h.config.Standing()
	if standing.Err != nil {
		return home, standing.Err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	err = pgx.BeginFunc(ctx, h.config.DB.Pool(), func(tx pgx.Tx) error {
		var ofSession, ofUser Home
		if err := h.lock(ctx, tx, s, &ofSession, &ofUser); err != nil {
			return err
		}
		home = cmp.Or(ofSession, ofUser, Home{Replica: h.config.Replica, Address: h.config.Address})
		if ofSession == home {
			return nil
		}
		return h.put(ctx, tx, s, home, ofUser, standing)
	})
	if err != nil {
		return Home{}, fault(err)
	}
	return h.found(s.key(), home, asked, standing), nil
}

// lock keeps others from taking the homes of a session and its user, and reads them.
func (h *Homes) lock(ctx context.Context, tx pgx.Tx, s Session, ofSession, ofUser *Home) error {
	k, user := s.key(), s.userKey()
	locks := []int64{k.lock()}
	if user != (key{}) {
		locks = append(locks, user.lock())
	}
	slices.Sort(locks)
	b := &pgx.Batch{}
	b.Queue("SELECT count(pg_advisory_xact_lock(key)) FROM unnest($1::bigint[]) AS key", locks)
	b.Queue(homeOf, k[:], h.config.Replica, deadAfter.Seconds()).QueryRow(scanHome(ofSession))
	b.Queue(homeOf, user[:], h.config.Replica, deadAfter.Seconds()).QueryRow(scanHome(ofUser))
	return tx.SendBatch(ctx, b).Close()
}

func (k key) lock() int64 { return int64(binary.BigEndian.Uint64(k[:8])) }

func (h *Homes) put(ctx context.Context, tx pgx.Tx, s Session, home, ofUser Home, standing Standing) error {
	b := &pgx.Batch{}
	b.Queue(stillMe, h.config.Replica, standing.Epoch)
	k, user := s.key(), s.userKey()
	b.Queue(putHome, k[:], home.Replica)
	if user != (key{}) && ofUser.Replica == "" {
		b.Queue(putHome, user[:], home.Replica)
	}
	return fenced(tx.SendBatch(ctx, b).Close())
}

// Leave gives up the home of a session that has ended.
func (h *Homes) Leave(ctx context.Context, s Session) error {
	defer h.Forget(s) // after it, so that no request remembers what is just being given up
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	k := s.key()
	_, err := h.config.DB.Pool().Exec(ctx, "DELETE FROM bailiff.homes WHERE key = $1 AND replica = $2", k[:], h.config.Replica)
	return fault(err)
}

// Lost are those of some sessions whose home is another sidecar by now.
func (h *Homes) Lost(ctx context.Context, sessions []Session) (lost []Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	byKey, keys := map[key]Session{}, [][]byte{}
	for _, s := range sessions {
		k := s.key()
		byKey[k] = s
		keys = append(keys, k[:])
	}
	rows, err := h.config.DB.Own().Query(ctx, "SELECT key FROM bailiff.homes WHERE key = ANY($1) AND replica <> $2", keys, h.config.Replica)
	if err != nil {
		return nil, fault(err)
	}
	var found []byte
	_, err = pgx.ForEachRow(rows, []any{&found}, func() error {
		lost = append(lost, byKey[key(found)])
		return nil
	})
	return lost, fault(err)
}
