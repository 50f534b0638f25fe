// Package past remembers what each session did, and each user today, as facts for the policies (input.session_history).
//
// Here: the facts of a request's session and of its user ([Store.Of]), what a request adds to them ([Store.Add]), and which facts the
// files are that it filled ([FilesOf]). A session's facts are one file in the state folder: a line for each request, folded into
// the first one now and then. Of the sessions used last the facts are in memory, the others are read when they are asked for.
//
// Promised: what one request did is known to the next, also after the sidecar was killed. The facts are bounded (the max… numbers
// below), the oldest make room; a fact that is missing, for a bound or for damage, makes the history incomplete and is never a fault of
// a request. Damage is told to the log and counted. Ending a session forgets its facts, not those of its user; a user's go at
// midnight (UTC). A file is known by its content, so that a copy or another name changes nothing, and by its path besides.
//
// Not here: what follows from a fact (the policies); which files a text fills (package facts); who looks at them (enforcer).
package past

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// maxInMemory is of how many sessions and users the facts are in memory at least.
const maxInMemory = 2048

// Config says where histories are kept.
type Config struct {
	// Dir is a folder for them alone; empty means that they are kept in memory only.
	Dir string
	// Scrub returns a text without known secrets; nil leaves it as it is.
	Scrub func([]byte) []byte
	// Damaged is told of each history that could not be read or written; it may be nil.
	Damaged func()
	Log     *slog.Logger
}

// Store holds histories. It may be used concurrently.
type Store struct {
	config Config

	mu  sync.Mutex
	all *recent.Map[name, *state]
	// fixed is what every session did, in a store that remembers nothing.
	fixed *bailiff.SessionHistory
	// made counts the files that were begun since the folder was swept.
	made int
}

// Open opens a store, and forgets what is too old.
func Open(c Config) (*Store, error) {
	if c.Damaged == nil {
		c.Damaged = func() {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{config: c, all: recent.New[name, *state](maxInMemory)}
	return s, s.prepare()
}

// InMemory is a store that is gone with its process.
func InMemory() *Store {
	s, _ := Open(Config{}) // which reads nothing
	return s
}

// Fixed is a store in which every session did the same before, and does nothing more.
func Fixed(before *bailiff.SessionHistory) *Store {
	s := InMemory()
	s.fixed = before
	return s
}

// name tells sessions and users apart: of a user the session is empty and the day is set.
type name struct{ caller, session, platform, user, day string }

func sessionOf(req bailiff.Request) name { return name{caller: req.Caller, session: req.Session.ID} }

func userOf(req bailiff.Request, at time.Time) name {
	return name{caller: req.Caller, platform: req.Session.Platform, user: req.Session.UserID, day: at.UTC().Format(time.DateOnly)}
}

// Of is what the session and the user of a request did before it.
func (s *Store) Of(req bailiff.Request) *bailiff.SessionHistory {
	if s.fixed != nil {
		return s.fixed
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.stateLocked(sessionOf(req)).history(now)
	h.User = s.stateLocked(userOf(req, now)).history(now)
	return h
}

// Deed is what a request adds to a history.
type Deed struct {
	At time.Time `json:"at"`
	// Denied says that the policies or people denied it, Ran that it ran.
	Denied bool `json:"denied,omitempty"`
	Ran    bool `json:"ran,omitempty"`
	// Rules are those of its reasons.
	Rules       []string           `json:"rules,omitempty"`
	Files       []bailiff.FileFact `json:"files,omitempty"`
	Hosts       []string           `json:"hosts,omitempty"`
	Credentials []string           `json:"credentials_read,omitempty"`
	// Reached are the hosts that it reached through the sidecar, with the bytes that it sent there.
	Reached   map[string]int64 `json:"reached,omitempty"`
	Forwarded []string         `json:"forwarded,omitempty"`
	// ApprovedBy names who approved it, Agent the sub-agent that asked.
	ApprovedBy string `json:"approved_by,omitempty"`
	Agent      string `json:"agent,omitempty"`
	RunMillis  int64  `json:"run_ms,omitempty"`
}

// hasFacts says that a deed adds to more than counters.
func (did *Deed) hasFacts() bool {
	return len(did.Files)+len(did.Hosts)+len(did.Credentials)+len(did.Rules)+len(did.Reached)+len(did.Forwarded) > 0 ||
		did.ApprovedBy+did.Agent != ""
}

// DeedOf is what a judgement says of a request that does nothing.
func DeedOf(req bailiff.Request, j bailiff.Judgement) (did Deed) {
	did.Agent = req.Session.Agent.ID
	did.Denied = j.Fault == nil && Counts(j.Decision)
	did.Rules = j.Decision.Rules()
	return did
}

// Done adds what a request does that runs, and the files that it fills.
func (did *Deed) Done(j bailiff.Judgement, files []bailiff.FileFact) {
	did.Files, did.Hosts, did.Credentials = files, j.Hosts, j.Decision.CredentialsRead
}

// Counts says that a decision denies a request for what it is: not because it cannot be judged, recorded or asked about now.
func Counts(d bailiff.Decision) bool {
	return d.Outcome == bailiff.Deny && slices.ContainsFunc(d.Denials, func(r bailiff.Reason) bool {
		return !slices.Contains([]string{bailiff.RuleUnwritable, bailiff.RuleFrozen, bailiff.RuleVoid, "approval.unattended",
			"floor.project_unnoted"}, r.Rule)
	})
}

// Add remembers what a request did.
func (s *Store) Add(req bailiff.Request, did Deed) {
	if s.fixed != nil {
		return
	}
	did.At = time.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(sessionOf(req), did)
	s.addLocked(userOf(req, did.At), did)
}

// Forget drops the facts of a session that has ended.
func (s *Store) Forget(caller, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := name{caller: caller, session: session}
	s.all.Take(of)
	s.drop(of)
}

func (s *Store) addLocked(of name, did Deed) {
	st := s.stateLocked(of)
	st.add(did)
	s.append(of, st, did)
}

// stateLocked is what is known of a session or a user.
func (s *Store) stateLocked(of name) *state {
	if st, known := s.all.Get(of); known {
		return st
	}
	st := s.load(of)
	s.all.Put(of, st)
	return st
}
