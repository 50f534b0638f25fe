// Package chattest has what the tests of all chat services share: an inbox that keeps what
// it gets, and a log that is read while it is written.
//
// Not here: the services that answer in the place of the real ones, each in a package of
// its own below the client's.
package chattest

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// Inbox keeps what it gets, in order.
type Inbox struct {
	Messages    chan chat.Said
	Clicks      chan chat.Click
	Connections chan error
	// OnSaid is called with each message before it is kept, if it is set.
	OnSaid func(chat.Said)
	// Answer is what a person who clicks is told; nil is nothing.
	Answer func(chat.Click) chat.Text
}

var _ chat.Inbox = (*Inbox)(nil)

// NewInbox has room for 1,000 of each.
func NewInbox() *Inbox {
	return &Inbox{Messages: make(chan chat.Said, 1000), Clicks: make(chan chat.Click, 1000), Connections: make(chan error, 1000)}
}

// Said keeps a message.
func (i *Inbox) Said(_ context.Context, s chat.Said) {
	if i.OnSaid != nil {
		i.OnSaid(s)
	}
	i.Messages <- s
}

// Clicked keeps a click.
func (i *Inbox) Clicked(_ context.Context, c chat.Click) chat.Text {
	i.Clicks <- c
	if i.Answer == nil {
		return nil
	}
	return i.Answer(c)
}

// Connected keeps the state of the connection.
func (i *Inbox) Connected(err error) { i.Connections <- err }

// Next is what comes next; the test ends if nothing does.
func Next[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case it := <-from:
		return it
	case <-time.After(patience):
		t.Fatalf("no %T came", *new(T))
		panic("unreachable")
	}
}

// Signal wakes tests that wait for a change of what it guards.
type Signal struct {
	mu      sync.Mutex
	changed chan struct{}
}

// Change makes a change.
func (s *Signal) Change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	if s.changed != nil {
		close(s.changed)
	}
	s.changed = make(chan struct{})
}

// Read reads while nothing changes.
func (s *Signal) Read(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Await waits until something is so, and says whether it came to be.
func (s *Signal) Await(is func() bool) bool {
	for late := time.After(patience); ; {
		s.mu.Lock()
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		so, changed := is(), s.changed
		s.mu.Unlock()
		if so {
			return true
		}
		select {
		case <-changed:
		case <-late:
			return false
		}
	}
}

// Log is a log that is read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps a part of the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is the log so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
