package console

import (
	"context"
	"crypto/subtle"
	"net/http"
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
	ended    context.Context
	end      context.CancelFunc

	mu      sync.Mutex
	expires time.Time // if nobody uses it
	timer   *time.Timer
}

func (s *session) told() about {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := s.who.Groups
	if groups == nil {
		groups = []string{}
	}
	return about{s.who.Person, groups, s.who.Credential, s.expires}
}

// sessions are those who are logged in.
type sessions struct {
	idle time.Duration

	mu  sync.Mutex
	all map[hashed]*session // by their cookies
}

func (ss *sessions) begin(who bailiff.Approver, operator http.Handler, now time.Time) (s *session, cookie, token string) {
	cookie, token = newSecret(), newSecret()
	s = &session{who: who, operator: operator, cookie: hash(cookie), token: hash(token), last: now.Add(maxAge)}
	s.ended, s.end = context.WithCancel(context.Background())
	s.timer = time.AfterFunc(maxAge, func() { ss.end(s) })
	ss.use(s)
	ss.add(s)
	return s, cookie, token
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
	if s == nil {
		return nil
	}
	given := hash(token)
	if subtle.ConstantTimeCompare(given[:], s.token[:]) != 1 {
		return nil
	}
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
	s.expires = time.Now().Add(ss.idle)
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
