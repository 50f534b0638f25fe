// Package shared keeps the book of approvals of several sidecars in a PostgreSQL.
//
// A step is a transaction that locks and loads the part of the state that the step says it needs, and fails if it looks at
// anything else. Every row is changed only as it was loaded; if another was faster, the step is decided anew. What a book
// shows follows the tables. Each sidecar says every second that it lives and which freezes it goes by: a freeze returns
// once each has said so, and one that was not heard for five seconds denies by itself. Deadlines go by the database's clock.
//
// Promised: what a sidecar was told is done is not forgotten in silence, where a standby is promoted or a backup restored
// (files moved.go and mark.go).
//
// Not here: what a step may change (package state), and the connections (package postgres).
package shared
