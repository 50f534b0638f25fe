package past

import (
	"maps"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// How many facts of each kind a history has at most. The oldest make room for others.
const (
	maxFiles       = 1000
	maxHosts       = 500
	maxCredentials = 100
	maxRules       = 200
	maxReached     = 500
	maxNames       = 100 // of variables, of approvers, of sub-agents
)

// state is what is known of a session or a user, as it is kept.
type state struct {
	Incomplete  bool               `json:"incomplete,omitempty"`
	Files       []bailiff.FileFact `json:"files,omitempty"`
	Hosts       []string           `json:"hosts,omitempty"`
	Credentials []string           `json:"credentials_read,omitempty"`
	Findings    map[string]int     `json:"findings,omitempty"`
	// Reached are hosts with the bytes that were sent there.
	Reached    map[string]int64 `json:"reached,omitempty"`
	Forwarded  []string         `json:"forwarded,omitempty"`
	ApprovedBy map[string]int   `json:"approved_by,omitempty"`
	Agents     []string         `json:"agents,omitempty"`
	RunMillis  int64            `json:"run_ms,omitempty"`
	// Denials are counted; those in a row until a request runs.
	Denials  bailiff.DenialCount `json:"denials,omitzero"`
	Requests window              `json:"requests,omitempty"`
	NewHosts window              `json:"new_hosts,omitempty"`

	// facts are told to others, and not changed any more; nil where they are to be made anew.
	facts *bailiff.SessionFacts
	lines int // of the file
}

// history is what is told of a state.
func (st *state) history(now time.Time) *bailiff.SessionHistory {
	if st.facts == nil {
		st.facts = &bailiff.SessionFacts{Files: slices.Clone(st.Files), Hosts: slices.Clone(st.Hosts),
			CredentialsRead: slices.Clone(st.Credentials), Findings: maps.Clone(st.Findings), Reached: maps.Clone(st.Reached),
			Forwarded: slices.Clone(st.Forwarded), ApprovedBy: maps.Clone(st.ApprovedBy), Agents: slices.Clone(st.Agents)}
	}
	return &bailiff.SessionHistory{Complete: !st.Incomplete, SessionFacts: st.facts, Denials: st.Denials,
		Requests: st.Requests.counts(now), NewHosts: st.NewHosts.counts(now), RunSeconds: int(st.RunMillis / 1000)}
}

// add folds what a request did into what is known.
func (st *state) add(did Deed) {
	if did.hasFacts() {
		st.facts = nil
	}
	st.RunMillis += did.RunMillis
	st.Requests.add(did.At, 1)
	switch {
	case did.Denied:
		st.Denials.InARow++
		st.Denials.Total++
	case did.Ran:
		st.Denials.InARow = 0
	}
	for _, f := range did.Files {
		isAgain := func(known bailiff.FileFact) bool { return known.Path == f.Path && known.SHA256 == f.SHA256 }
		st.Files = slices.DeleteFunc(st.Files, isAgain)
		st.Files = st.newest(append(st.Files, f))
	}
	for _, host := range did.Hosts {
		if !slices.Contains(st.Hosts, host) {
			st.Hosts = append(st.Hosts, host)
			st.NewHosts.add(did.At, 1)
		}
	}
	st.Credentials = with(st.Credentials, did.Credentials...)
	st.Hosts, st.Credentials = st.within(st.Hosts, maxHosts), st.within(st.Credentials, maxCredentials)
	st.Forwarded = st.within(with(st.Forwarded, did.Forwarded...), maxNames)
	if did.Agent != "" {
		st.Agents = st.within(with(st.Agents, did.Agent), maxNames)
	}
	for _, rule := range did.Rules {
		count(st, &st.Findings, rule, 1, maxRules)
	}
	for host, bytes := range did.Reached {
		count(st, &st.Reached, host, bytes, maxReached)
	}
	if did.ApprovedBy != "" {
		count(st, &st.ApprovedBy, did.ApprovedBy, 1, maxNames)
	}
}

// with is a list with those that it did not have.
func with(all []string, more ...string) []string {
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// newest are the files within the bound.
func (st *state) newest(files []bailiff.FileFact) []bailiff.FileFact {
	if more := len(files) - maxFiles; more > 0 {
		st.Incomplete = true
		files = slices.Delete(files, 0, more)
	}
	return files
}

// within are the last texts of a list.
func (st *state) within(all []string, most int) []string {
	if more := len(all) - most; more > 0 {
		st.Incomplete = true
		all = slices.Delete(all, 0, more)
	}
	return all
}

// count adds to a number. What is new beyond the bound is not counted.
func count[N int | int64](st *state, numbers *map[string]N, name string, n N, most int) {
	if *numbers == nil {
		*numbers = map[string]N{}
	}
	if _, known := (*numbers)[name]; !known && len(*numbers) >= most {
		st.Incomplete = true
		return
	}
	(*numbers)[name] += n
}
