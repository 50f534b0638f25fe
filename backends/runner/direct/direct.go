// Package direct lets programs that know no proxy leave a sandbox: by a resolver on
// loopback, to which /etc/resolv.conf leads them, and by listeners at the addresses that stand for
// the names that it answers.
//
// It parses nothing: a query is handed on as it came, and so is each connection, with the address
// and port that its program dialled. Which names there are, what stands for them and what a
// connection may do is the sidecar's to say.
//
// Promised: nothing here waits for a program, and what is kept is bounded. A query beyond the
// bound is dropped, as a resolver may do; of the listeners the ones that were named longest ago
// are closed.
//
// Not here: frames, and the bytes of connections, which the runner carries as those of a proxy.
package direct
