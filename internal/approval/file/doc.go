// Package file keeps the book of approvals in one bbolt file of mode 0600, which one process has open at a time.
//
// Every record is eight bytes of checksum, over its place and its text, and a JSON document; a claim's text is a record of
// its own, written once and read only to show or answer it. The seal, rewritten with every transaction, holds the schema's
// version and the exclusive or of all checksums, so that a record that is missing or old shows as well.
//
// # Promised
//
//   - Every step is on disk before anyone sees it or is told. Steps that wait together share a transaction.
//   - A store that fails takes no step until the file was written and read anew; then what it holds is the truth.
//   - [Open] reads the whole file and refuses one that is not exactly as it was left, or that another user could have
//     written. A marker beside it says that there was one: if it is gone, [Open] refuses too, so that no freeze is
//     forgotten in silence.
//
// Not here: what a step may change (package state).
package file
