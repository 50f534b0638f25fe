package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// Process is a command on a host. What is written goes to its input, what is read is
// its standard output.
type Process struct {
	session *ssh.Session
	out     *io.PipeReader
	// saying is held by who writes or ends the input.
	saying sync.Mutex
	in     io.WriteCloser
	silent bool
	words  headtail.Last
	closed sync.Once
	ended  chan struct{}
	err    error
}

// start starts a command in a session of its own.
func (c *connection) start(ctx context.Context, command string) (*Process, error) {
	session, err := within(ctx, c.done, c.client.NewSession)
	if err != nil {
		return nil, &unopened{err}
	}
	p := &Process{session: session, ended: make(chan struct{})}
	session.Stderr = &p.words
	var out io.Reader
	if p.in, err = session.StdinPipe(); err == nil {
		out, err = session.StdoutPipe()
	}
	if err == nil {
		_, err = within(ctx, nil, func() (io.Closer, error) { return session, session.Start(command) })
	}
	if err != nil {
		go session.Close()
		return nil, err
	}
	p.out = pumped(out)
	go p.wait(c.leave)
	return p, nil
}

// pumped reads on in the background, so that who reads can be told the end at any
// time: of a dead line there is none. What is not read any more is dropped, since
// the command may have to say it before it ends.
func pumped(from io.Reader) *io.PipeReader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, from)
		_ = in.CloseWithError(err)
		_, _ = io.Copy(io.Discard, from)
	}()
	return out
}

func (p *Process) wait(leave func()) {
	p.err = p.session.Wait()
	_ = p.session.Close()
	close(p.ended)
	leave()
}

// Read reads standard output.
func (p *Process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the input.
func (p *Process) Write(b []byte) (int, error) {
	p.saying.Lock()
	defer p.saying.Unlock()
	return p.in.Write(b)
}

// CloseWrite ends the input, after what is being written. That of a command that has
// ended is over.
func (p *Process) CloseWrite() error {
	p.saying.Lock()
	defer p.saying.Unlock()
	if p.silent {
		return nil
	}
	p.silent = true
	if err := p.in.Close(); err != io.EOF {
		return err
	}
	return nil
}

// grace is how long a command may go on whose input has ended since no client cares for
// it any more.
const grace = 5 * time.Second

// Close ends what is read at once, the input, and after a while the session. It waits
// for none of these, for the line may be dead.
func (p *Process) Close() error {
	p.closed.Do(func() {
		_ = p.out.Close()
		go p.end()
	})
	return nil
}

func (p *Process) end() {
	go p.CloseWrite()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		_ = p.session.Close()
	}
}

// Done is closed when the command has ended or the connection to it.
func (p *Process) Done() <-chan struct{} { return p.ended }

// Exit is the status of a command that has ended, and the end of what it wrote to its
// standard error. It is an error where the status is not known.
func (p *Process) Exit() (status int, words string, err error) {
	<-p.ended
	words = bailiff.Foreign(p.words.String())
	var exit *ssh.ExitError
	switch {
	case p.err == nil:
		return 0, words, nil
	case errors.As(p.err, &exit) && exit.Signal() == "":
		return exit.ExitStatus(), words, nil
	}
	return 0, words, fmt.Errorf("waiting for a command: %w", p.err)
}
