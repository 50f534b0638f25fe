package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
)

// ClaimText is a claim as it is stored: whole, but without known secrets.
type ClaimText struct {
	Request  bailiff.Request  `json:"request"`
	Caller   string           `json:"caller"`
	Peer     string           `json:"peer"`
	Decision bailiff.Decision `json:"decision"`
	Files    []bailiff.File   `json:"files,omitempty"`
	Unbound  []string         `json:"unbound,omitempty"`
	Ground   bailiff.Ground   `json:"ground,omitzero"`
	Plain    bool             `json:"plain,omitempty"`
	Call     []string         `json:"call,omitempty"`
	Input    json.RawMessage  `json:"input,omitempty"`
}

// textOf returns a claim's text without known secrets. Who asked stays as it is,
// since grants and freezes go by it.
func textOf(c bailiff.Claim, scrub func([]byte) []byte) (ClaimText, error) {
	t := ClaimText{Request: c.Request, Caller: c.Request.Caller, Peer: c.Request.Peer, Decision: c.Decision, Files: c.Files,
		Unbound: c.Unbound, Ground: c.Ground, Plain: c.Plain, Call: c.Call}
	if c.Input != nil {
		input, err := c.Input.MarshalJSON()
		if err != nil {
			return t, fmt.Errorf("writing the input document: %w", err)
		}
		t.Input = input
	}
	clean, err := scrubbed(t, scrub)
	if err != nil {
		return t, fmt.Errorf("scrubbing a claim: %w", err)
	}
	clean.Caller, clean.Peer, clean.Request.Tool = t.Caller, t.Peer, t.Request.Tool
	s, of := &clean.Request.Session, c.Request.Session
	s.ID, s.Platform, s.UserID, s.Agent = of.ID, of.Platform, of.UserID, of.Agent
	return clean, nil
}

// scrubbed replaces secrets in every text. The document is taken apart for it,
// as a secret may be written in more than one way in JSON.
func scrubbed(t ClaimText, scrub func([]byte) []byte) (clean ClaimText, err error) {
	text, err := json.Marshal(t)
	if err != nil || scrub == nil {
		return t, err
	}
	var document any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&document); err != nil {
		return t, err
	}
	text, err = json.Marshal(redact.JSON(document, func(s string) string { return string(scrub([]byte(s))) }))
	if err != nil {
		return t, err
	}
	return clean, json.Unmarshal(text, &clean)
}

// Claim is the claim as the router may see it again.
func (t ClaimText) Claim(decisionID string) bailiff.Claim {
	c := bailiff.Claim{Request: t.Request, Decision: t.Decision, DecisionID: decisionID, Files: t.Files, Unbound: t.Unbound,
		Ground: t.Ground, Plain: t.Plain, Call: t.Call}
	c.Request.Caller, c.Request.Peer = t.Caller, t.Peer
	if t.Input != nil {
		c.Input = t.Input
	}
	return c
}

const (
	// textLimit and listLimit are how much of each text and list memory keeps.
	textLimit = 1000
	listLimit = 20
)

// shorten fills an entry with as much of a claim as lists show.
func (t ClaimText) shorten(e *Entry) {
	e.Shortened = true
	e.Request, e.Caller, e.Peer = t.Request, t.Caller, t.Peer
	e.Request.Env = slices.Clone(head(t.Request.Env))
	a, s := &e.Request.Args, &e.Request.Session
	for _, text := range []*string{
		&e.Request.ID, &e.Request.Backend, &a.Command, &a.Code, &a.Stdin, &a.Data, &a.Workdir, &a.Action, &a.ProcessID, &a.Name,
		&a.Arguments, &a.Typed.End,
		&s.UserName, &s.ChatID, &s.ThreadID, &s.Profile,
	} {
		*text = cut(*text)
	}
	backend := t.Decision.Backend
	backend.Egress, backend.Mounts = slices.Clone(head(backend.Egress)), slices.Clone(head(backend.Mounts))
	e.Decision = bailiff.Decision{Outcome: t.Decision.Outcome, Revision: t.Decision.Revision}
	e.Decision.Backend, e.Decision.Limits = backend, t.Decision.Limits
	e.Decision.Env.Forward = slices.Clone(head(t.Decision.Env.Forward))
	e.Reasons = shortReasons(t.Decision)
}

func shortReasons(d bailiff.Decision) []bailiff.Reason {
	reasons := []bailiff.Reason{}
	if d.Approval == nil {
		return reasons
	}
	for _, r := range head(d.Approval.Reasons) {
		reasons = append(reasons, bailiff.Reason{Rule: cut(r.Rule), Message: cut(r.Message), Match: cut(r.Match), Instead: cut(r.Instead),
			Severity: r.Severity, Attack: head(r.Attack)})
	}
	return reasons
}

// Fill shows an entry with all of a claim.
func (t ClaimText) Fill(row Entry) api.Entry {
	e := row.shown()
	e.Shortened = false
	e.Request, e.Decision, e.Files, e.Input = t.Request, t.Decision, t.Files, t.Input
	if t.Decision.Approval != nil {
		e.Reasons = t.Decision.Approval.Reasons
	}
	return e
}

func head[T any](list []T) []T { return list[:min(len(list), listLimit)] }

// cut is as much of a text as lists show, and lets the rest go.
func cut(text string) string {
	if len(text) <= textLimit {
		return text
	}
	return strings.Clone(bailiff.Beginning(text, textLimit))
}
