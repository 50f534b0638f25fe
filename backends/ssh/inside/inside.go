// Package inside is what a sidecar and a host that it reaches by ssh say to each other to
// have sandboxes made there, as package bubblewrap makes them: the program bailiff-host
// answers one question, asked over its standard input. One that asks for a sandbox hands
// input and output down to the runner inside and stays until the sandbox has ended, so
// that no process stands between the runner and its client.
//
// A question and an answer are lines of JSON. Neither side reads a byte beyond the end of one,
// since what follows is between the runner and its client, and the answer begins with a
// word that no other program can have printed: the login shell there may greet.
package inside

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
)

// Question is what is asked.
type Question struct {
	// Begin is the word with which the line of the answer begins; [Put] makes it.
	Begin  string
	Config bubblewrap.Config
	Ask    Ask
	// Spec is of Open, Owner of the others but Try, Workspace of Remove.
	Spec             backends.Spec
	Owner, Workspace string
}

// Ask says which of the methods of [bubblewrap.Backend] is meant.
type Ask string

// The questions.
const (
	Open   Ask = "open"
	Try    Ask = "ready"
	Sweep  Ask = "sweep"
	List   Ask = "workspaces"
	Remove Ask = "remove"
)

// Answer is what came of it.
type Answer struct {
	Swept      int      `json:",omitempty"`
	Workspaces []string `json:",omitempty"`
	Fault      *Fault   `json:",omitempty"`
}

// Fault is an error that comes from the host.
type Fault struct {
	Text string
	// Unsupported says that it wraps ErrUnsupported, else it wraps ErrUnavailable.
	Unsupported bool
}

// Error is what the host said.
func (f *Fault) Error() string { return bailiff.Foreign(f.Text) }

// Unwrap tells which kind it is.
func (f *Fault) Unwrap() error {
	if f.Unsupported {
		return backends.ErrUnsupported
	}
	return backends.ErrUnavailable
}

// longest is how much is read until a question or an answer has ended, in bytes.
const longest = 1 << 20

// Put puts a question and returns its answer, or the [Fault] that it holds.
func Put(to io.ReadWriter, q Question) (answer Answer, err error) {
	q.Begin = rand.Text()
	text, err := json.Marshal(q)
	if err != nil {
		return answer, err
	}
	go func() { _, _ = to.Write(append(text, '\n')) }()
	line, err := find(to, q.Begin)
	if err != nil {
		return answer, fmt.Errorf("asking bailiff-host: %w", err)
	}
	if err := read(line, &answer); err != nil {
		return answer, fmt.Errorf("reading what bailiff-host says: %w", err)
	}
	if answer.Fault != nil {
		return answer, answer.Fault
	}
	return answer, nil
}

// find is the rest of the line that begins with a word.
func find(from io.Reader, begin string) ([]byte, error) {
	for most := longest; ; {
		line, err := readLine(from, most)
		if err != nil {
			return nil, err
		}
		if rest, found := bytes.CutPrefix(line, []byte(begin)); found {
			return rest, nil
		}
		most -= len(line) + 1
	}
}

var errEndless = errors.New("it says much, but not what was waited for")

// readLine reads a line, and no byte beyond its end. It is io.EOF if there is nothing.
func readLine(from io.Reader, most int) (line []byte, err error) {
	var b [1]byte
	for len(line) < most {
		switch _, err := io.ReadFull(from, b[:]); {
		case err == io.EOF && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case b[0] == '\n':
			return line, nil
		}
		line = append(line, b[0])
	}
	return nil, errEndless
}

// read refuses an unknown field.
func read(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
