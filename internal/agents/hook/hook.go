// Package hook has the words in which bailiff-hook and the hooks of agents' clients speak of one
// tool call: the call as its client asks for it, its meaning in terms that can be judged, the
// verdict, and the reply that the client reads.
//
// What a client calls its tools, and how it asks and is answered, stands in a package hook in the
// agent's own folder, as a [Table]. Most of its tools are rows of a table, too ([Tools]): a name,
// and what a tool of that name does to which entry of its input.
//
// What is promised: the zero value of all of it refuses. A tool that no table names has no
// meaning, a verdict that was not given denies. A file is named as everybody reads it, and by where
// its links lead.
//
// Not here: what is judged, asked and ordered, which is bailiff-hook's. It starts once for every
// tool call, so that this package imports next to nothing.
package hook

import (
	"fmt"
	"io"
)

// Guard stands behind a hook in an agent's settings: each end but an answer refuses.
const Guard = ` || { [ $? -eq 2 ] || echo 'bailiff-hook failed, so nothing runs' >&2; exit 2; }`

// Meaning is what a tool call does, in terms that can be judged.
type Meaning struct {
	Kind Kind
	// Command is the shell text, or the one that does the same on the host.
	Command string
	// Timeout is in seconds; zero means the policies' own.
	Timeout int
	// Workdir is the folder that the call names, in the sandbox or on this machine.
	Workdir string
	// Files are what a hostly tool acts on, links followed too; Writes says that it changes them.
	Files  []string
	Writes bool
	// Linked says that a link leads to one of the files.
	Linked bool
	// Addresses are what an outward tool reaches.
	Addresses []string
	// Why a tool is harmless, or what to use in place of one that is refused.
	Why string
}

// Kind is how a tool call can be judged.
type Kind uint8

// The kinds of tool calls.
const (
	_ Kind = iota // a tool that is not known, which is refused
	// Replaced tools are refused because another one does the same under bailiff.
	Replaced
	// Harmless tools touch nothing, or come back with what they do touch.
	Harmless
	// Shell tools run a command, which can run in a sandbox as well.
	Shell
	// Hostly tools act on this machine, wherever commands run.
	Hostly
	// Outward tools reach other machines from this one, and touch nothing of it.
	Outward
)

// Verdict is what is to become of a tool call. Its zero value denies.
type Verdict struct {
	Outcome Outcome
	Reason  string
	// Command is what runs in place of the one asked for; empty means that.
	Command string
	// Wait is how many seconds an approval may take.
	Wait int
	// Headless says that no person sits at the client.
	Headless bool
}

// Outcome is the answer of a verdict.
type Outcome uint8

// The answers of verdicts.
const (
	Deny Outcome = iota
	Ask
	Allow
	// Abstain leaves it to the client, as if bailiff were not there.
	Abstain
)

// Denial is the verdict on what failed.
func Denial(why error) Verdict { return Verdict{Reason: why.Error()} }

// Refused is the exit status by which every client knows that a tool must not run,
// whatever is written.
const Refused = 2

// Reply is what a client reads.
type Reply struct {
	Stdout, Stderr string
	Status         int
}

// Write writes it and returns the exit status. A client that could not read it must not take
// silence for a yes; one of them takes a refusal for one that gives no reason on standard error.
func (r Reply) Write(stdout, stderr io.Writer) int {
	if r.Status == Refused {
		fmt.Fprintf(stderr, "bailiff-hook: %s\n", r.Stderr)
	}
	if r.Stdout == "" {
		return r.Status
	}
	if _, err := io.WriteString(stdout, r.Stdout+"\n"); err != nil {
		fmt.Fprintf(stderr, "bailiff-hook: writing the answer: %v\n", err)
		return Refused
	}
	return r.Status
}
