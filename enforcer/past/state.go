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
)

// state is what is known of a session or a user, as it is kept.
type state struct {
	Incomplete  bool               `json:"incomplete,omitempty"`
	Files       []bailiff.FileFact `json:"files,omitempty"`
	Hosts       []string           `json:"hosts,omitempty"`
	Credentials []string           `json:"credentials_read,omitempty"`
	Findings    map[string]int     `json:"findings,omitempty"`
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
			CredentialsRead: slices.Clone(st.Credentials), Findings: maps.Clone(st.Findings)}
	}
	return &bailiff.SessionHistory{Complete: !st.Incomplete, SessionFacts: st.facts, Denials: st.Denials,
		Requests: st.Requests.counts(now), NewHosts: st.NewHosts.counts(now)}
}

// add folds what a request did into what is known.
func (st *state) add(did Deed) {
	if len(did.Files)+len(did.Hosts)+len(did.Credentials)+len(did.Rules) > 0 {
		st.facts = nil
	}
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
	for _, path := range did.Credentials {
		if !slices.Contains(st.Credentials, path) {
			st.Credentials = append(st.Credentials, path)
		}
	}
	st.Hosts, st.Credentials = st.within(st.Hosts, maxHosts), st.within(st.Credentials, maxCredentials)
	for _, rule := range did.Rules {
		st.count(rule)
	}
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

// count counts a rule. Of rules there are only so many as the policies have, so that those beyond the bound are not counted.
func (st *state) count(rule string) {
	if st.Findings == nil {
		st.Findings = map[string]int{}
	}
	if _, known := st.Findings[rule]; !known && len(st.Findings) >= maxRules {
		st.Incomplete = true
		return
	}
	st.Findings[rule]++
}
