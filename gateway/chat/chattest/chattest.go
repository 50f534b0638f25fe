// Package chattest has what the tests of all chat services share: an inbox that keeps what
// it gets, a log that is read while it is written, and the parts that the services of tests
// have in common: a lock that wakes those who wait, faults, refusals.
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
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// Patience is how long a test waits for what must come: as long as its program may run.
func Patience(tb testing.TB) time.Duration { return max(1, time.Until(awaittest.End(tb))) }

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
	case <-time.After(Patience(t)):
		t.Fatalf("no %T came", *new(T))
		panic("unreachable")
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
