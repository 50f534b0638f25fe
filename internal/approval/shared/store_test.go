package shared

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unseen is what nothing is shown to.
type unseen struct{}

func (unseen) Show(state.Step)              {}
func (unseen) ShowAnew(*state.State, bool)  {}
func (unseen) Look(at func(s *state.State)) { at(state.New()) }

// started is the store of a sidecar of that name. It ends with the test, or by end.
func started(t *testing.T, dsn, name string) (s *Store, end func()) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{DSN: bailiff.NewSecret(dsn)})
	must(t, err)
	t.Cleanup(db.Close)
	closing, delivered := make(chan struct{}), make(chan struct{})
	close(delivered)
	s, err = Open(state.Host{View: unseen{}, Outbox: state.NewOutbox(), Closing: closing, Delivered: delivered, Scrub: strings.Clone,
		Log: slog.New(slog.DiscardHandler), Reach: func(string) {}}, &Config{DB: db, Replica: name})
	must(t, err)
	must(t, s.Start(t.Context()))
	end = sync.OnceFunc(func() {
		close(closing)
		must(t, s.Close())
	})
	t.Cleanup(end)
	return s, end
}

// TestStoresOfOneDatabase has the stores of several sidecars share a PostgreSQL.
func TestStoresOfOneDatabase(t *testing.T) {
	server := postgrestest.Start(t)
	for name, test := range map[string]func(*testing.T, *postgrestest.Server){
		"a name is one sidecar's": oneName, "one user's flood leaves others connections": aFlood,
		"a sidecar that starts after a move grants nothing at first": startsAfterAMove,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

func oneName(t *testing.T, server *postgrestest.Server) {
	dsn := server.Empty(t)
	one, end := started(t, dsn, "one")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := (&Store{db: one.db, replica: "one"}).enlist(ctx); err == nil || !strings.Contains(err.Error(), "store.replica") {
		t.Errorf("got %v", err)
	}
	end()
	started(t, dsn, "one")
}

// aFlood has a user's requests wait for each other as if they were slow.
func aFlood(t *testing.T, server *postgrestest.Server) {
	s, _ := started(t, server.Empty(t), "one")
	conn, err := pgx.Connect(t.Context(), server.DSN("bailiff"))
	must(t, err)
	holders := func(session, user string) []state.Holder {
		e := &state.Entry{Caller: "hermes"}
		e.Request.Session = bailiff.Session{ID: session, Platform: "telegram", UserID: user}
		return state.Holders(e)
	}
	_, err = conn.Exec(t.Context(), "SELECT pg_advisory_lock($1)", lockKey(string(hashOfHolder(holders("s1", "42")[2]))))
	must(t, err)
	ask := func(digest, session, user string) error {
		return s.Do(t.Context(), state.Need{Digest: digest, Holders: holders(session, user)},
			func(*state.State, time.Time) (state.Step, error) { return state.Step{}, nil })
	}
	const many = 60
	var flood sync.WaitGroup
	for n := range many {
		flood.Go(func() {
			for t.Context().Err() == nil && ask(fmt.Sprint("rm ", n), "s1", "42") != nil {
				continue // a step waits by itself, for some seconds at most
			}
		})
	}
	turns := &s.turns
	awaittest.Until(t, "all waiting for one", func() bool {
		turns.mu.Lock()
		defer turns.mu.Unlock()
		return slices.ContainsFunc(slices.Collect(maps.Values(turns.all)), func(one *turn) bool { return one.users == many })
	})
	awaittest.Until(t, "one waiting for the database", func() bool {
		waiting := 0
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waiting)
		return err == nil && waiting == 1
	})
	must(t, ask("rm", "s2", "43"))
	must(t, conn.Close(t.Context())) // which gives the lock up
	flood.Wait()
	if len(turns.all) != 0 {
		t.Errorf("%d turns are left", len(turns.all))
	}
}

// A sidecar that starts right after another server was accepted grants nothing until all others know of it.
func startsAfterAMove(t *testing.T, server *postgrestest.Server) {
	dsn := server.Empty(t)
	refuses := func(name string, want bool) {
		t.Helper()
		s, _ := started(t, dsn, name)
		until := time.Duration(s.refusing.Load())
		if (until > 0) != want {
			t.Errorf("sidecar %s refuses until %v after its start, want %t", name, until, want)
		}
		if err := s.Err(); !errors.Is(err, postgres.ErrMoved) && time.Since(s.began) < until {
			t.Errorf("sidecar %s grants at once: %v", name, err)
		}
	}
	refuses("first", false)
	for name, c := range map[string]struct {
		state string
		want  bool
	}{
		"accepts":       {"server = 'another'", true},
		"just-accepted": {"accepted = clock_timestamp() + interval '1 hour'", true}, // by a clock that was set back
		"long-accepted": {"accepted = clock_timestamp() - interval '6 seconds'", false},
	} {
		server.Exec(t, "bailiff", "UPDATE bailiff.state SET "+c.state)
		refuses(name, c.want)
	}
	noted := server.Number(t, "bailiff", "SELECT count(*) FROM bailiff.state WHERE server <> 'another' AND accepted IS NOT NULL")
	if noted != 1 {
		t.Error("the tables do not hold when which server was accepted")
	}
}
