package modal

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	modal "github.com/modal-labs/modal-client/go"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
)

const (
	// most is how much one call carries, and how much waits for its turn at most.
	most = 256 << 10
	// lastWord is how long a runner's standard error may take to come after its
	// standard output has ended.
	lastWord = 2 * time.Second
)

// stream is the standard output and input of a program in a machine. Each call that
// carries input takes a journey there and back, and may never end.
type stream struct {
	*carrier.BatchWriter
	account *account
	machine *modal.Sandbox
	process *modal.ContainerProcess
	words   *words
	left    sync.Once
}

func converse(a *account, machine *modal.Sandbox, process *modal.ContainerProcess, words *words) *stream {
	s := &stream{account: a, machine: machine, process: process, words: words}
	s.BatchWriter = carrier.NewBatchWriter(most, s.send, func(error) { s.leave() })
	return s
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.process.Stdout.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("reading from the sandbox: %w", bailiff.ForeignError(err, s.account.token.secret))
	}
	return n, err
}

func (s *stream) send(batch []byte) error {
	if _, err := s.process.Stdin.Write(batch); err != nil {
		return fmt.Errorf("writing to the sandbox: %w", bailiff.ForeignError(err, s.account.token.secret))
	}
	return nil
}

// Close closes both directions.
func (s *stream) Close() error {
	s.leave()
	return s.BatchWriter.Close()
}

// leave ends what is read, and the connection when nothing goes over it any more.
func (s *stream) leave() {
	s.left.Do(func() {
		go func() { // a reader may be at it
			_ = s.process.Stdout.Close()
			s.words.await() // they come over the same connection
			_ = s.machine.Detach()
		}()
	})
}

// words are a runner's standard error.
type words struct {
	runner.Words
	from io.ReadCloser
	over chan struct{}
}

func listen(from io.ReadCloser, log *slog.Logger) *words {
	w := &words{Words: runner.Words{Log: log}, from: from, over: make(chan struct{})}
	go func() {
		defer close(w.over)
		_, _ = io.Copy(w, from)
	}()
	return w
}

// last continues a sentence with what was said last, and hears nothing more.
func (w *words) last() string {
	w.await()
	_ = w.from.Close()
	if said := w.String(); said != "" {
		return fmt.Sprintf("; the sandbox said %q", said)
	}
	return ""
}

// await gives what is still on its way the time to come.
func (w *words) await() {
	select {
	case <-w.over:
	case <-time.After(lastWord):
	}
}
