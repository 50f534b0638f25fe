package budget

import (
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Turn is what is set aside for one request. A nil one is nothing.
type Turn struct {
	store *Store
	asker Asker
	parts []part
}

// part is of one budget.
type part struct {
	bailiff.Budget
	of      *account
	counter *counter
	// amount was set aside in the window that began at since.
	amount int64
	since  time.Time
}

// fits says whether what is to be set aside is left, and of what is counted later anything at all.
func (p *part) fits() bool {
	return p.counter.Used+max(p.amount, 1) <= int64(p.Most)*unitOf(p.Count)
}

// changeLocked changes all counters, and writes them down.
func (t *Turn) changeLocked(change func(*part)) (err error) {
	for i := range t.parts {
		p := &t.parts[i]
		change(p)
		err = errors.Join(err, t.store.files.Keep(p.of))
	}
	if err != nil {
		return fmt.Errorf("counting what is used of a budget: %w", err)
	}
	return nil
}

// Ran is what a request used that ran.
type Ran struct {
	Took time.Duration
	// Sent is how many bytes it sent to each host.
	Sent map[string]int64
}

// End gives back what the request did not use; of one that did not run, nil, that is all. What runs on in the
// background keeps what was set aside.
func (t *Turn) End(ran *Ran) {
	if t == nil {
		return
	}
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	err := t.changeLocked(func(p *part) {
		isSame := p.counter.Since.Equal(p.since)
		switch {
		case ran == nil && isSame:
			p.counter.Used -= p.amount
		case ran == nil:
		case p.Count == bailiff.CountRunSeconds && isSame && !t.asker.Request.Args.Background:
			p.counter.Used += ran.Took.Milliseconds() - p.amount
		case p.Count == bailiff.CountUploadMB:
			p.counter.renew(t.store.now())
			for _, n := range ran.Sent {
				p.counter.Used += n
			}
		}
	})
	t.parts = nil
	if err != nil {
		t.store.log.Error("a budget may count too much", "error", err)
	}
}
