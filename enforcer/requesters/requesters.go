// Package requesters says who asks, and which variables are theirs alone.
//
// Promised: the value of a variable that is a person's own comes from a source of that person, or there is none. Who is not known has
// none.
//
// Not here: who is who (package internal/approval/people), and the files (package internal/secrets/env).
package requesters

import (
	"strconv"

	"github.com/bailiff-dev/bailiff"
)

// Roster knows who asks.
type Roster interface {
	Requester(req bailiff.Request) bailiff.Requester
}

// Variables are those that each person has apart.
type Variables interface {
	Available(person string, names []string) []string
	Value(person, name string) (bailiff.Secret, bool)
	Values(name string) []bailiff.Secret
}

// People are those whose requests come. The zero value knows none.
type People struct {
	Roster Roster
	Own    Variables
}

// Of is who asks, with those of the requested variables that are theirs.
func (p People) Of(req bailiff.Request) (who bailiff.Requester) {
	if p.Roster == nil {
		return who
	}
	who = p.Roster.Requester(req)
	if who.Person != "" && p.Own != nil && len(req.Env) > 0 {
		who.Own = p.Own.Available(who.Person, req.Env)
	}
	return who
}

// Value is the requester's own value of a variable.
func (p People) Value(req bailiff.Request, name string) (bailiff.Secret, bool) {
	if p.Roster == nil || p.Own == nil {
		return bailiff.Secret{}, false
	}
	who := p.Roster.Requester(req)
	if who.Person == "" {
		return bailiff.Secret{}, false
	}
	return p.Own.Value(who.Person, name)
}

// Hide adds to secrets the values that people have of variables, as each may stand in what others left.
func (p People) Hide(names []string, secrets map[string]bailiff.Secret) {
	if p.Own == nil {
		return
	}
	known := map[string]bool{}
	for _, value := range secrets {
		known[value.Reveal()] = true
	}
	for _, name := range names {
		for _, value := range p.Own.Values(name) {
			if !known[value.Reveal()] {
				known[value.Reveal()] = true
				secrets[name+"-of-another"+strconv.Itoa(len(known))] = value
			}
		}
	}
}
