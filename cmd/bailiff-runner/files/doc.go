// Package files answers what a client asks about files of the sandbox, for facts and for approvals that are bound to
// contents: [Digests], a [Part] of one, those that [Match] a pattern, and the links on the way of paths ([Resolve]).
//
// Promised: nothing is written, no pipe and no device is opened, and each answer has a bound: of what is looked at, and
// of its own size. An answer that is not whole says so.
package files
