package api

import "github.com/bailiff-dev/bailiff"

// Shadow is what policies that are not in force would have decided otherwise.
type Shadow struct {
	// Revision is theirs.
	Revision string          `json:"revision"`
	Outcome  bailiff.Outcome `json:"outcome"`
	// Rules are those that would deny, or ask.
	Rules       []string     `json:"rules,omitempty"`
	Differences []Difference `json:"differences"`
}

// Difference is one thing that two decisions about a request say differently.
type Difference struct {
	// What is "outcome", "rules", or an obligation by its path in the decision, such
	// as "env.forward".
	What string `json:"what"`
	// From and To are the two values; of a list, what only the one and only the
	// other has.
	From      string    `json:"from"`
	To        string    `json:"to"`
	Direction Direction `json:"direction"`
}

// Direction says whether a difference lets a request do more, or less.
type Direction string

// The directions. Some differences have neither: another image, another rule.
const (
	Looser   Direction = "looser"
	Stricter Direction = "stricter"
	Sideways Direction = "other"
)
