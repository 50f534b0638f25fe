// Package relay listens inside a sandbox that has no network but its loopback, and passes connections on to the client.
// It reads and understands nothing of them.
//
// An [Outlet] takes the connections, and serves one client at a time. A connection that waits takes no buffer, and a
// connection that is not read holds up no other.
//
// Not here: what decides where a connection may go, which is the client's, and how programs that know no proxy come
// here (package direct).
package relay
