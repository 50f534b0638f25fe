package console

import (
	"context"
	"crypto/subtle"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// maxSessions is how many may be logged in; the oldest login ends for another.
const maxSessions = 100

// session is one login.
type session struct {
	who      bailiff.Approver
	operator http.Handler
	cookie   hashed
	token    hashed
	last     time.Time // at which it ends, whatever happens
	idle     time.Duration
	bare     bool // its token is its only secret
	ended    context.Context
	end      context.CancelFunc

	mu      sync.Mutex
	expires time.Time // if it is not used
	timer   *time.Timer
}

func (s *session) told() about {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := s.who.Groups
	if groups == nil {
		groups = []string{}
	}
	return about{s.who.Person, groups, s.who.Credential, s.who.Login, s.expires}
}

// sessions are those who are logged in.
type sessions struct {
	idle time.Duration

	mu  sync.Mutex
	all map[hashed]*session // by their cookies
}

// begin begins a session of a browser, which is at most so old.
func (ss *sessions) begin(who bailiff.Approver, operator http.Handler, age time.Duration, now time.Time) (s *session,
	cookie, token string) {
	cookie, token = newSecret(), newSecret()
	s = &session{who: who, operator: operator, cookie: hash(cookie), token: hash(token), last: now.Add(age), idle: ss.idle}
	ss.open(s, age)
	return s, cookie, token
}

// beginBare begins a session of a command line, which has one secret and ends by its age alone.
func (ss *sessions) beginBare(who bailiff.Approver, operator http.Handler, age time.Duration, now time.Time) (s *session, token string) {
	token = newSecret()
	s = &session{who: who, operator: operator, cookie: hash(token), bare: true, last: now.Add(age), idle: age}
	ss.open(s, age)
	return s, token
}

func (ss *sessions) open(s *session, age time.Duration) {
	s.ended, s.end = context.WithCancel(context.Background())
	s.timer = time.AfterFunc(age, func() { ss.end(s) })
	ss.use(s)
	ss.add(s)
}

func (ss *sessions) add(s *session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.all == nil {
		ss.all = map[hashed]*session{}
	}
	if len(ss.all) >= maxSessions {
		ss.remove(ss.oldest())
	}
	ss.all[s.cookie] = s
}

func (ss *sessions) list() []*session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return slices.Collect(maps.Values(ss.all))
}

func (ss *sessions) oldest() (oldest *session) {
	for _, s := range ss.all {
		if oldest == nil || s.last.Before(oldest.last) {
			oldest = s
		}
	}
	return oldest
}

// find returns the session of both secrets, nil if there is none.
func (ss *sessions) find(cookie, token string) *session {
	ss.mu.Lock()
	s := ss.all[hash(cookie)]
	ss.mu.Unlock()
	if s == nil || s.bare {
		return nil
	}
	given := hash(token)
	if subtle.ConstantTimeCompare(given[:], s.token[:]) != 1 {
		return nil
	}
	return s.alive()
}

// bearer is the token that a request sends alone.
func bearer(r *http.Request) (token string, sent bool) {
	all := r.Header["Authorization"]
	if len(all) != 1 {
		return "", false
	}
	return strings.CutPrefix(all[0], "Bearer ")
}

// bearer returns the session whose only secret is a token, nil if there is none.
func (ss *sessions) bearer(token string) *session {
	ss.mu.Lock()
	s := ss.all[hash(token)]
	ss.mu.Unlock()
	if s == nil || !s.bare {
		return nil
	}
	return s.alive()
}

// alive is the session unless its time is over.
func (s *session) alive() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !time.Now().Before(s.expires) {
		return nil
	}
	return s
}

// use keeps a session alive.
func (ss *sessions) use(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expires = time.Now().Add(s.idle)
	if s.expires.After(s.last) {
		s.expires = s.last
	}
	if s.ended.Err() == nil {
		s.timer.Reset(time.Until(s.expires))
	}
}

func (ss *sessions) end(s *session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.remove(s)
}

func (ss *sessions) remove(s *session) {
	s.end()
	s.timer.Stop()
	delete(ss.all, s.cookie)
}
