package api

import "time"

// Revision is one set of policies that was in force.
type Revision struct {
	Name string `json:"revision"`
	// Content is the digest of all files, those too that decide nothing.
	Content string `json:"content"`
	// Since is when it last came into force, Way by which way.
	Since time.Time `json:"since"`
	Way   string    `json:"way"`
	// Files are where its files lay, Bundles the revisions that bundles gave themselves.
	Files   []string          `json:"files"`
	Bundles map[string]string `json:"bundles,omitempty"`
	// Replaced is the later revision in whose place a server gave this one again.
	Replaced string `json:"replaced,omitempty"`
	// Damaged says that what it was cannot be read any more.
	Damaged bool `json:"damaged,omitempty"`
}

// Revisions is the answer to GET /v1/policies/history: the policies that were in force,
// the latest first.
type Revisions struct {
	Revisions []Revision `json:"revisions"`
}

// ShownRevision is the answer to GET /v1/policies/history/{revision}.
type ShownRevision struct {
	Revision Revision     `json:"revision"`
	Texts    []PolicyFile `json:"texts"`
}

// PolicyFile is a file of policies, by the path at which it lay.
type PolicyFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// RollingBack is the body of POST /v1/policies/rollback; the beginning of a revision
// will do.
type RollingBack struct {
	Revision string `json:"revision"`
	Reason   string `json:"reason"`
}
