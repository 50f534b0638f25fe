package api

import (
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Sessions is the answer to GET /v1/session-histories.
type Sessions struct {
	Sessions []Session `json:"sessions"`
}

// Session is one of which the sidecar remembers something.
type Session struct {
	ID       string    `json:"id"`
	Caller   string    `json:"caller"`
	LastUsed time.Time `json:"last_used"`
}

// SessionShown is the answer to GET /v1/session-histories/{id}: what each caller's session of that id did, and its latest events in
// the decision log, the newest first.
type SessionShown struct {
	Histories []SessionPast `json:"histories"`
	Decisions []Logged      `json:"decisions"`
}

// SessionPast is a session with what it did.
type SessionPast struct {
	Session
	History *bailiff.SessionHistory `json:"history"`
}
