// Package state is what the book of approvals knows, and the rules by which a step changes it: what is asked, what a vote
// brings about, what a grant covers, what a freeze stops.
//
// A [State] is changed by applying a [Step], as a whole. The rules only read it: each returns the step that is to be
// taken, with its events, or why there is none. So a store can decide a step on a part of the state, write it, and only
// then have it applied and shown. A step that looks at what it did not say it needs ([Need]) fails.
//
// Promised: approvals and grants in a state are never changed, but replaced as a whole. The names of what is kept are
// those of the store's version; a field that is not known is refused.
//
// Not here: how a state is kept (packages file and shared), who may answer, and what readers are shown.
package state
