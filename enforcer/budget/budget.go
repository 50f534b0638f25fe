// Package budget counts what is used of budgets (table budgets) in a minute, an hour or a day.
//
// Here: what was used before a request, as facts for the policies ([Store.Of]), and what the request uses, set aside before it runs
// ([Store.Take]) and settled when it ends ([Reservation.End]). The counters of one user, chat or platform are one file in the state folder.
//
// Promised: on one sidecar no more is set aside than a budget has, however many requests come at once, and what is set aside is in
// its file before the request runs, so that a sidecar that was killed has counted it in full; a machine that lost its power may not. A
// counter begins anew when its minute, hour or day (UTC) is over, and never because the clock went back. A damaged file leaves its
// counters unknown until the day is over, which the policies take for used up.
//
// Not here: which budgets hold, and what follows once nothing is left (the policies); other sidecars, each of which counts its own.
package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// maxAccounts bounds whose counters there are in a day. Of others nothing runs that a budget holds for.
const maxAccounts = 100_000

// Config says where counters are kept.
type Config struct {
	// Dir is a folder for them alone.
	Dir string
	// Damaged is told of each file that could not be read.
	Damaged func()
	Log     *slog.Logger
}

// Store holds counters. It may be used concurrently. A nil one counts nothing.
type Store struct {
	files *records.Store[*account]
	log   *slog.Logger
	now   func() time.Time

	mu  sync.Mutex
	all map[string]*account
	day string // when the counters of earlier days were dropped
}

// Open opens a store.
func Open(c Config) (*Store, error) {
	s := &Store{log: c.Log, now: time.Now, all: map[string]*account{}}
	var err error
	s.files, err = records.Open(records.Config[*account]{Dir: c.Dir, Log: c.Log,
		Named: func(key string, _ time.Time) (*account, bool) {
			c.Damaged()
			return &account{ID: key, Damaged: s.today()}, true
		}})
	if err != nil {
		return nil, fmt.Errorf("opening the counters of budgets: %w", err)
	}
	all, err := s.files.All()
	for _, a := range all {
		for _, one := range a.Counters {
			if !one.isSound() {
				c.Damaged()
				*a = account{ID: a.ID, Damaged: s.today()}
			}
		}
		s.all[a.ID] = a
	}
	return s, err
}

func (s *Store) today() string { return s.now().UTC().Format(time.DateOnly) }

// Asker is a request with what its counters depend on.
type Asker struct {
	Request bailiff.Request
	// Person is who asks, empty where that is not known.
	Person string
	// Elsewhere says that its client runs it, and not the sidecar.
	Elsewhere bool
}

// of names the account of a request. Users and chats are those that the platform tells apart; on the command line the user is the one that
// the kernel names, and a chat what the client says, which is one for all.
func (a Asker) of(per string) string {
	session := a.Request.Session
	name := []string{per}
	switch isCLI := session.Platform == "cli"; {
	case per == "platform":
		name = append(name, session.Platform)
	case per == "user" && a.Person != "":
		name = append(name, "person", a.Person)
	case per == "user" && isCLI:
		name = append(name, session.Platform, a.Request.Peer)
	case per == "user":
		name = append(name, session.Platform, session.UserID)
	case per == "chat" && isCLI:
		name = append(name, session.Platform)
	case per == "chat":
		name = append(name, session.Platform, session.ChatID)
	}
	sum := sha256.Sum256([]byte(strings.Join(name, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// kinds are whose counters there are.
var kinds = []string{"user", "chat", "platform", "all"}

// Of is what was used of budgets before a request; nil where nothing was.
func (s *Store) Of(a Asker) *bailiff.Spent {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return nil
	}
	spent, isAny := &bailiff.Spent{Used: map[string]map[string]int{}}, false
	for _, per := range kinds {
		of := s.all[a.of(per)]
		if of == nil {
			continue
		}
		if of.Damaged == s.today() {
			spent.Unknown, isAny = append(spent.Unknown, per), true
		}
		used := map[string]int{}
		for name, c := range of.Counters {
			if n := c.usedBy(a, s.now()); n > 0 {
				used[name], isAny = n, true
			}
		}
		spent.Used[per] = used
	}
	if !isAny {
		return nil
	}
	return spent
}

// ErrUsedUp says that less is left of a budget than when the request was judged.
var ErrUsedUp = errors.New("it was used up meanwhile")

// Take sets aside what a request uses of the budgets that its decision names; it is for one that is about to run. What the policies
// asked about because nothing was left is counted in any case.
func (s *Store) Take(a Asker, d bailiff.Decision) (*Reservation, error) {
	if s == nil || len(d.Budgets) == 0 || d.Outcome == bailiff.Deny {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pruneLocked()
	t := &Reservation{store: s, asker: a}
	for _, b := range d.Budgets {
		if b.Count == bailiff.CountQuestions || b.Count == bailiff.CountRunSeconds && a.runsInAnother() {
			continue
		}
		of, err := s.accountLocked(a.of(b.Per))
		if err != nil {
			return nil, err
		}
		p := part{Budget: b, account: of.ID, amount: amountOf(a, d.Limits, b)}
		if b.Left > 0 && !p.fit(of.counter(b, s.now()).Used) {
			return nil, fmt.Errorf("of the budget %s nothing is left: %w", b.Name, ErrUsedUp)
		}
		t.parts = append(t.parts, p)
	}
	return t, t.changeLocked(func(p *part, c *counter) { c.Used, p.since = c.Used+p.amount, c.Since })
}

// runsInAnother says that the seconds of a request are none of its own: those of its script or of its process are counted, and of what
// runs elsewhere no one tells them.
func (a Asker) runsInAnother() bool {
	return a.Request.Within || a.Elsewhere || a.Request.Tool == bailiff.Process
}

// Ask counts a question of a request, the same one once. It is an error where none is left, and then no approver may be asked.
func (s *Store) Ask(a Asker, d bailiff.Decision, question string) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256([]byte(question))
	digest := hex.EncodeToString(sum[:])
	t := &Reservation{store: s, asker: a}
	for _, b := range d.Budgets {
		if b.Count != bailiff.CountQuestions {
			continue
		}
		of, err := s.accountLocked(a.of(b.Per))
		if err != nil {
			return err
		}
		c := of.counter(b, s.now())
		switch {
		case slices.Contains(c.Asked, digest):
			continue
		case len(c.Asked) >= b.Most:
			return fmt.Errorf("of the budget %s, %d questions %s, none is left; it begins anew %s: %w", b.Name, b.Most,
				windowWords[b.Window], renewalWords[b.Window], ErrUsedUp)
		}
		t.parts = append(t.parts, part{Budget: b, account: of.ID})
	}
	err := t.changeLocked(func(_ *part, c *counter) { c.Asked = append(c.Asked, digest) })
	if err != nil { // it is asked of no one
		err = errors.Join(err, t.changeLocked(func(_ *part, c *counter) {
			c.Asked = slices.DeleteFunc(c.Asked, func(one string) bool { return one == digest })
		}))
	}
	return err
}

var (
	windowWords  = map[string]string{"minute": "a minute", "hour": "an hour", "day": "a day"}
	renewalWords = map[string]string{"minute": "with the next minute", "hour": "with the next hour", "day": "at midnight UTC"}
)

// amountOf is what is set aside for a request at most, in the unit of the counter; 0 seconds are all that are left.
func amountOf(a Asker, limits bailiff.Limits, b bailiff.Budget) int64 {
	switch {
	case b.Count == bailiff.CountRequests:
		return 1
	case b.Count != bailiff.CountRunSeconds:
		return 0 // counted when it is known
	case a.Request.Args.Background:
		return int64(limits.BackgroundSeconds) * unitOf(b.Count)
	}
	if asked := a.Request.Args.Timeout; asked > 0 && asked < limits.TimeoutSeconds {
		return int64(asked) * unitOf(b.Count)
	}
	return int64(limits.TimeoutSeconds) * unitOf(b.Count)
}

// accountLocked is one that is there, or a new one.
func (s *Store) accountLocked(id string) (*account, error) {
	if of := s.all[id]; of != nil {
		return of, nil
	}
	if len(s.all) >= maxAccounts {
		return nil, fmt.Errorf("the budgets of today have the counters of %d users and chats already", maxAccounts)
	}
	of := &account{ID: id}
	s.all[id] = of
	return of, nil
}

// pruneLocked drops what no budget counts any more, once a day.
func (s *Store) pruneLocked() {
	today := s.today()
	if s.day == today {
		return
	}
	s.day = today
	for id, of := range s.all {
		if of.isOver(s.now()) {
			delete(s.all, id)
			if err := s.files.Drop(id); err != nil {
				s.log.Error("the counters of a budget cannot be forgotten", "error", err)
			}
		}
	}
}
