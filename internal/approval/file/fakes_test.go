package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// shown is what a store has shown.
type shown struct {
	mu   sync.Mutex
	seen *state.State
}

func (v *shown) Show(t state.Step) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen.Show(t)
}

func (v *shown) ShowAnew(s *state.State, _ bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = s
}

func (v *shown) Look(at func(*state.State)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at(v.seen)
}

// opened is a store with what it has shown. Nothing of its outbox comes to a decision log.
type opened struct {
	*Store
	shown
	closing chan struct{}
}

func open(path string, reach func(string)) (*opened, error) {
	o := &opened{closing: make(chan struct{})}
	delivered := make(chan struct{})
	close(delivered)
	s, err := Open(state.Host{View: &o.shown, Outbox: state.NewOutbox(), Closing: o.closing, Delivered: delivered,
		Scrub: strings.Clone, Log: slog.New(slog.DiscardHandler), Reach: reach}, path)
	o.Store = s
	return o, err
}

func started(t *testing.T, path string, reach func(string)) *opened {
	t.Helper()
	o, err := open(path, reach)
	backendtest.Must(t, err)
	backendtest.Must(t, o.Start(t.Context()))
	return o
}

func (o *opened) end(t *testing.T) {
	t.Helper()
	close(o.closing)
	backendtest.Must(t, o.Close())
}

func nowhere(string) {}

// take has a store take a step.
func (o *opened) take(t *testing.T, s state.Step) {
	t.Helper()
	backendtest.Must(t, o.Do(t.Context(), state.Need{}, func(*state.State, time.Time) (state.Step, error) { return s, nil }))
}

// filled is the file of a closed store that holds something of everything.
func filled(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "approvals.db")
	o := started(t, path, nowhere)
	for n := range 13 {
		request := bailiff.Request{ID: "q", Tool: bailiff.Terminal, Args: bailiff.Args{Command: strings.Repeat("x", 2000)}}
		text, err := json.Marshal(state.ClaimText{Request: request, Caller: "hermes"})
		backendtest.Must(t, err)
		i := &state.Item{Seq: uint64(n + 1), Pairs: []string{fmt.Sprint("pair ", n)}, GrantFor: time.Minute, Entry: state.Entry{
			ID: fmt.Sprint("a-", n), State: bailiff.ApprovalPending, Digest: fmt.Sprint("digest ", n), Caller: "hermes",
			Votes: []api.Vote{}, Created: o.Now(), Expires: o.Now().Add(time.Hour)}}
		s := state.Step{Items: []*state.Item{i}, Claims: []state.Stored{{Seq: i.Seq, Text: text}}}
		s.Events = []api.Event{{DecisionID: "d1", RequestedBy: "hermes", Custom: api.Custom{Event: api.ApprovalEvent, Message: "asked"}}}
		o.take(t, s)
	}
	for _, scope := range []string{"once", "session", "always"} {
		o.take(t, state.Step{Grants: []*state.Held{{DecisionID: "d1", Pairs: []string{"pair"}, Grant: state.Grant{ID: "g-" + scope,
			Scope: scope, By: "ana", Digest: map[bool]string{true: "digest"}[scope == "once"]}}}})
	}
	for _, id := range []string{"s8", "s9"} {
		o.take(t, state.Step{Frozen: []state.Freeze{{Kind: api.FreezeSession, ID: id, By: "ben", At: o.Now()}}})
	}
	o.end(t)
	return path
}

// refused checks that a store does not open, says why, and how to proceed.
func refused(t *testing.T, path, says string) {
	t.Helper()
	o, err := open(path, nowhere)
	if err == nil {
		t.Fatal(errors.Join(errors.New("opened"), o.store.Load().Close()))
	}
	for _, part := range []string{path, says, path + ".made", "restore no older copy", "allows nothing that was denied",
		"freezes are lost too"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not said: %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("it is more than one line: %q", err)
	}
}
