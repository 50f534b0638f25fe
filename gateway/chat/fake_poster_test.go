package chat

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// fakePoster is a service that shows messages, each key once.
type fakePoster struct {
	mu      sync.Mutex
	keys    map[string]Ref
	shown   map[Ref]Message
	order   []Ref
	edits   map[Ref]int
	posts   int
	changed chan struct{}
	// fault is asked before and after each call; an error after it comes with its effect.
	fault func(call string, after bool) error
}

func newFakePoster() *fakePoster {
	return &fakePoster{keys: map[string]Ref{}, shown: map[Ref]Message{}, edits: map[Ref]int{}, changed: make(chan struct{}),
		fault: func(string, bool) error { return nil }}
}

func (b *fakePoster) Post(_ context.Context, at Place, m Message, key string) (Ref, error) {
	return b.do("post", func() Ref {
		if ref, known := b.keys[key]; known {
			return ref
		}
		b.posts++
		ref := Ref{at, fmt.Sprint(len(b.order))}
		b.keys[key], b.shown[ref], b.order = ref, m, append(b.order, ref)
		return ref
	})
}

func (b *fakePoster) Edit(_ context.Context, at Ref, m Message) error {
	gone := false
	_, err := b.do("edit", func() Ref {
		if _, found := b.shown[at]; !found {
			gone = true
			return at
		}
		b.edits[at]++
		b.shown[at] = m
		return at
	})
	if err == nil && gone {
		return ErrGone
	}
	return err
}

func (b *fakePoster) do(call string, effect func() Ref) (Ref, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fault(call, false); err != nil {
		return Ref{}, err
	}
	ref := effect()
	close(b.changed)
	b.changed = make(chan struct{})
	if err := b.fault(call, true); err != nil {
		return Ref{}, err
	}
	return ref, nil
}

func (b *fakePoster) setFault(fault func(call string, after bool) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

func (b *fakePoster) remove(at Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.shown, at)
}

// await returns what is shown, in the order in which it was posted, once it is as wanted.
func (b *fakePoster) await(t *testing.T, what string, wanted func(shown []Message) bool) ([]Message, []Ref) {
	t.Helper()
	deadline := awaittest.Context(t).Done()
	for {
		b.mu.Lock()
		var all []Message
		var refs []Ref
		for _, ref := range b.order {
			if m, found := b.shown[ref]; found {
				all, refs = append(all, m), append(refs, ref)
			}
		}
		changed := b.changed
		b.mu.Unlock()
		if wanted(all) {
			return all, refs
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("never came: %s; shown is %v", what, all)
		}
	}
}

func buttons(n int) func([]Message) bool {
	return func(shown []Message) bool { return len(shown) == 1 && len(shown[0].Buttons) == n }
}

var errDown = errors.New("the service is down")

// plain is a text without its styles.
func plain(t Text) (all string) {
	for _, p := range t {
		all += p.Text
	}
	return all
}
