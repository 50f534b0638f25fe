// Package api is what programs outside the sidecar read and write: the wire types
// of the agent's and the operator's API, the events of the decision log, and the
// problem with which a request is refused.
//
// Promised here: no type but those of the standard library and of the vocabulary
// (package bailiff) is named, so that a program outside this module can write down
// each type that a client returns.
//
// Not here: who may ask (gateway), and how an event is written (internal/record/audit).
package api
