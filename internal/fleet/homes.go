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
	"github.com/jackc/pgx/v5/pgxpool"

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
	anew  anew
}

// Homes returns the homes of the fleet's sessions.
func (f *Fleet) Homes() *Homes { return &Homes{Fleet: f, known: recent.New[key, remembered](maxHomes)} }

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

// Home is the home of a session that may have none.
func (h *Homes) Home(ctx context.Context, s Session) (Home, error) {
	if home, found := h.recall(s.key()); found {
		return home, nil
	}
	return h.look(ctx, s)
}

// Serves is nil if this sidecar is the home of a session by now, or if none is. It asks PostgreSQL only if
// this sidecar was silent since that was known, or knows of no home: one that is gone may have taken the
// session over, and have run something in it.
func (h *Homes) Serves(ctx context.Context, s Session) error {
	home, err := h.Home(ctx, s)
	switch {
	case err != nil:
		return err
	case home.Replica != "" && !home.Mine:
		return fmt.Errorf("sidecar %s does", home.Replica)
	case home.Mine:
		return nil
	}
	lost, err := h.LostSessions(ctx, []Session{s})
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
		if h.leaving.Load() {
			return Home{}, false // it may be given away by now
		}
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

// homeOf finds none where the home is no living sidecar's, or is one's that has given it away. A
// sidecar's own homes are its own however long it was silent, if no other took them.
const homeOf = `SELECT h.replica, r.address FROM bailiff.homes h JOIN bailiff.replicas r ON r.id = h.replica
	WHERE h.key = $1 AND h.given <> r.id || ' ' || r.epoch
	AND (r.id = $2 OR r.address <> '' AND r.seen > clock_timestamp() - make_interval(secs => $3))`

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

// fenceError tells that fault from others of PostgreSQL's.
func fenceError(err error) error {
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
		ON CONFLICT (key) DO UPDATE SET replica = excluded.replica, used = clock_timestamp(), given = ''`
	// lastHome is the run of the sidecar that had a home last. stillGone divides by zero where that sidecar
	// was started anew since, or was heard again: then the home is its own. Until the end of the transaction
	// it is not, since its row is held.
	lastHome = `SELECT r.id, r.epoch, CASE WHEN h.given = r.id || ' ' || r.epoch THEN NULL ELSE r.seen::text END
		FROM bailiff.homes h JOIN bailiff.replicas r ON r.id = h.replica WHERE h.key = $1`
	stillGone = `SELECT 1 / count(*) FROM (SELECT FROM bailiff.replicas
		WHERE id = $1 AND epoch = $2 AND ($3::text IS NULL OR seen = $3::timestamptz) FOR SHARE) AS r`
	giveAway = `UPDATE bailiff.homes SET given = $1 || ' ' || $2::bigint
		WHERE replica = $1 AND key <> ALL($3) AND given <> $1 || ' ' || $2::bigint
		AND EXISTS (SELECT FROM bailiff.replicas WHERE id = $1 AND epoch = $2)`
)

// take makes this sidecar the home of a session, or the one that is the home of its user. Two
// that take the same wait for each other.
func (h *Homes) take(ctx context.Context, s Session) (home Home, err error) {
	for range takeAttempts {
		if home, err = h.tryTake(ctx, s); !errors.Is(err, errFenced) {
			break
		}
	}
	return home, err
}

// takeAttempts is how often a home is taken whose last sidecar comes back at that moment.
const takeAttempts = 3

func (h *Homes) tryTake(ctx context.Context, s Session) (home Home, err error) {
	asked, standing := time.Now(), h.config.Standing()
	if standing.Err != nil {
		return home, standing.Err
	}
	if h.leaving.Load() {
		return home, errLeaving
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	conn, err := h.config.DB.Pool().Acquire(ctx)
	if err != nil {
		return home, fault(err)
	}
	defer release(conn)
	var ofSession, ofUser had
	if err := h.lock(ctx, conn, s, &ofSession, &ofUser); err != nil {
		return home, fault(err)
	}
	home = cmp.Or(ofSession.home, ofUser.home, Home{Replica: h.config.Replica, Address: h.config.Address})
	if ofSession.home != home {
		if err := h.put(ctx, conn, s, home, ofSession, ofUser, standing); err != nil {
			return Home{}, fault(err)
		}
	}
	return h.found(s.key(), home, asked, standing), nil
}

// errLeaving is of a sidecar that gives its homes away.
var errLeaving = errors.New("this sidecar is stopping, and serves no further sessions; send the request to another one")

// release ends what was not committed.
func release(conn *pgxpool.Conn) {
	if conn.Conn().PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		_, _ = conn.Exec(ctx, "ROLLBACK") // a connection that fails is not used again
	}
	conn.Release()
}

// had is a home that may be, and the run of the sidecar that had it last.
type had struct {
	home  Home
	last  string
	epoch int64
	// seen is when that was heard last; nil if it has given the home away.
	seen *string
}

func scanHad(last *had) func(pgx.Row) error {
	return func(row pgx.Row) error {
		if err := row.Scan(&last.last, &last.epoch, &last.seen); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	}
}

// lock keeps others from taking the homes of a session and its user, and reads them.
func (h *Homes) lock(ctx context.Context, conn *pgxpool.Conn, s Session, ofSession, ofUser *had) error {
	k, user := s.key(), s.userKey()
	locks := []int64{k.lock()}
	if user != (key{}) {
		locks = append(locks, user.lock())
	}
	slices.Sort(locks)
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue("SELECT count(pg_advisory_xact_lock(key)) FROM unnest($1::bigint[]) AS key", locks)
	for k, one := range map[key]*had{k: ofSession, user: ofUser} {
		b.Queue(lastHome, k[:]).QueryRow(scanHad(one)) // first: what is heard after it is still gone is seen at the end
		b.Queue(homeOf, k[:], h.config.Replica, deadAfter.Seconds()).QueryRow(scanHome(&one.home))
	}
	return conn.SendBatch(ctx, b).Close()
}

func (k key) lock() int64 { return int64(binary.BigEndian.Uint64(k[:8])) }

// put writes a home and commits it, unless a sidecar that had it is back by then.
func (h *Homes) put(ctx context.Context, conn *pgxpool.Conn, s Session, home Home, ofSession, ofUser had, standing Standing) error {
	b := &pgx.Batch{}
	b.Queue(stillMe, h.config.Replica, standing.Epoch)
	h.queuePut(b, s.key(), home, ofSession)
	if user := s.userKey(); user != (key{}) && ofUser.home.Replica == "" {
		h.queuePut(b, user, home, ofUser)
	}
	b.Queue("COMMIT") // here, so that a sidecar that is paused now holds no row of another's
	return fenceError(conn.SendBatch(ctx, b).Close())
}

func (h *Homes) queuePut(b *pgx.Batch, k key, home Home, before had) {
	if before.last != "" && before.last != h.config.Replica {
		b.Queue(stillGone, before.last, before.epoch, before.seen)
	}
	b.Queue(putHome, k[:], home.Replica)
}

// GiveAway gives all homes away but those of some sessions and of their users: the next sidecar that is
// asked for one has it, though this one lives. From now on it takes none.
func (h *Homes) GiveAway(ctx context.Context, keep []Session) error {
	h.leaving.Store(true)
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	keys := [][]byte{}
	for _, s := range keep {
		session, user := s.key(), s.userKey()
		keys = append(keys, session[:], user[:])
	}
	_, err := h.config.DB.Own().Exec(ctx, giveAway, h.config.Replica, h.config.Standing().Epoch, keys)
	return fault(err)
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

// LostSessions are those of some sessions whose home is another sidecar by now.
func (h *Homes) LostSessions(ctx context.Context, sessions []Session) (lost []Session, err error) {
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
