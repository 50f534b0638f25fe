package bubblewrap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Sandboxes can be made on another host: a process there answers one question, asked
// over its standard input and output by whoever can start it. One that asks for a
// sandbox hands these down to the runner inside, and stays until the sandbox has
// ended, so that nobody stands between the runner and its client.

// Question is what is asked, as a line of JSON.
type Question struct {
	// Begin is a word that nobody can guess, with which the line of the answer begins.
	Begin  string
	Config Config
	Ask    Ask
	// Spec is of Open, Owner of the others but Try, Workspace of Remove.
	Spec             backends.Spec
	Owner, Workspace string
}

// Ask says which of the methods of [Backend] is meant.
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

// Fault is an error that comes from another host.
type Fault struct {
	Text string
	// Unsupported says that it wraps ErrUnsupported, else it wraps ErrUnavailable.
	Unsupported bool
}

// Error is what the other host said.
func (f *Fault) Error() string { return f.Text }

// Unwrap tells which kind it is.
func (f *Fault) Unwrap() error {
	if f.Unsupported {
		return backends.ErrUnsupported
	}
	return backends.ErrUnavailable
}

// Serve answers one question. An input that ends before there is any is none.
func Serve(in, out *os.File) error {
	line, err := readLine(in)
	if err != nil || len(line) == 0 {
		return err
	}
	var q Question
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil {
		return fmt.Errorf("reading what is asked: %w", err)
	}
	b, err := New(q.Config)
	if err != nil {
		return q.answer(out, Answer{}, err)
	}
	if q.Ask == Open {
		return b.hand(q, in, out)
	}
	answer, err := b.do(context.Background(), q)
	return q.answer(out, answer, err)
}

// longestQuestion bounds a line.
const longestQuestion = 1 << 20

// readLine reads no byte beyond the end of the line: what follows is not for us.
func readLine(in io.Reader) (line []byte, err error) {
	var b [1]byte
	for len(line) < longestQuestion {
		switch _, err := io.ReadFull(in, b[:]); {
		case err == io.EOF && len(line) == 0:
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("reading what is asked: %w", err)
		case b[0] == '\n':
			return line, nil
		}
		line = append(line, b[0])
	}
	return nil, fmt.Errorf("reading what is asked: it has more than %d bytes", longestQuestion)
}

func (b *Backend) do(ctx context.Context, q Question) (answer Answer, err error) {
	switch q.Ask {
	case Try:
		err = b.Ready(ctx)
	case Sweep:
		answer.Swept, err = b.Sweep(ctx, q.Owner, nil)
	case List:
		answer.Workspaces, err = b.Workspaces(ctx, q.Owner)
	case Remove:
		err = b.RemoveWorkspace(ctx, q.Owner, q.Workspace)
	default:
		err = fmt.Errorf("nobody knows how to %q", q.Ask)
	}
	return answer, err
}

func (q Question) answer(out io.Writer, a Answer, fault error) error {
	if fault != nil {
		a.Fault = &Fault{fault.Error(), errors.Is(fault, backends.ErrUnsupported)}
	}
	text, err := json.Marshal(a)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s%s\n", q.Begin, text)
	}
	return err
}

// hand makes a sandbox whose runner has the input and the output, and waits for its
// end. Once it is certain that there will be one, the answer says so; what fails
// later than that is the error.
func (b *Backend) hand(q Question, in, out *os.File) error {
	ctx := context.Background()
	group, err := b.bounds(ctx, q.Spec)
	if err != nil {
		return q.answer(out, Answer{}, err)
	}
	defer group.Close(ctx)
	var held *runner.Held
	answered := false
	announce := func() error {
		answered = true
		return q.answer(out, Answer{}, nil)
	}
	err = b.launch(ctx, q.Spec, group, announce, func(cmd *exec.Cmd, prepare, admit func() error) (err error) {
		if err := give(cmd, in, out); err != nil {
			return err
		}
		held, err = runner.Hold(cmd, prepare, admit)
		return err
	})
	switch {
	case err != nil && !answered:
		return q.answer(out, Answer{}, err)
	case err != nil:
		return err
	}
	return b.outlive(held, group)
}

// give hands both down, and keeps them.
func give(cmd *exec.Cmd, in, out *os.File) error {
	theirs, err := again(in)
	if err != nil {
		return err
	}
	cmd.Stdin = theirs
	if theirs, err = again(out); err != nil {
		return err
	}
	cmd.Stdout = theirs
	return nil
}

func again(file *os.File) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	number, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		return nil, fmt.Errorf("handing down %s: %w", file.Name(), err)
	}
	syscall.CloseOnExec(number)
	return os.NewFile(uintptr(number), file.Name()), nil
}

// outlive waits for the end of a sandbox, and tells what it died of.
func (*Backend) outlive(held *runner.Held, group *cgroup.Group) error {
	err := held.Wait()
	if err != nil && group.Starved() > 0 {
		err = fmt.Errorf("%w; %s", err, starved)
	}
	return err
}
