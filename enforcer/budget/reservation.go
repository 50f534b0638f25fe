package budget

import (
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Reservation is what is set aside for one request. A nil one is nothing.
type Reservation struct {
	store *Store
	asker Asker
	parts []part
}

// part is of one budget.
type part struct {
	bailiff.Budget
	account string
	// amount was set aside in the window that began at since.
	amount int64
	since  time.Time
}

// fit takes no more than what is left where something was used: of seconds all of that may be taken. It is false where nothing is left.
func (p *part) fit(used int64) bool {
	left := int64(p.Most)*unitOf(p.Count) - used
	if p.Count == bailiff.CountRunSeconds && (p.amount == 0 || p.amount > left) {
		p.amount = left
	}
	return left > 0 && p.amount <= left
}

// Seconds are how long the request may run by what was set aside; no more than most.
func (t *Reservation) Seconds(most int) int {
	if t == nil {
		return most
	}
	for _, p := range t.parts {
		if p.Count == bailiff.CountRunSeconds && p.amount > 0 {
			most = min(most, max(1, int(p.amount/unitOf(p.Count))))
		}
	}
	return most
}

// changeLocked changes all counters, and writes them down.
func (t *Reservation) changeLocked(change func(*part, *counter)) (err error) {
	for i := range t.parts {
		p := &t.parts[i]
		of, missing := t.store.accountLocked(p.account) // which was dropped where its window is over
		if missing == nil {
			change(p, of.counter(p.Budget, t.store.now()))
			missing = t.store.files.Keep(of)
		}
		err = errors.Join(err, missing)
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
func (t *Reservation) End(ran *Ran) {
	if t == nil {
		return
	}
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	err := t.changeLocked(func(p *part, c *counter) {
		isSame := c.Since.Equal(p.since)
		switch {
		case ran == nil && isSame:
			c.Used -= p.amount
		case ran == nil:
		case p.Count == bailiff.CountRunSeconds && isSame && !t.asker.Request.Args.Background:
			c.Used += ran.Took.Milliseconds() - p.amount
		case p.Count == bailiff.CountUploadMB:
			for _, n := range ran.Sent {
				c.Used += n
			}
		}
	})
	t.parts = nil
	if err != nil {
		t.store.log.Error("a budget may count too much", "error", err)
	}
}
