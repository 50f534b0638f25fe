package supervise

import (
	"errors"
	"os"
	"sync"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// intake is what waits to be read by a command, and the pipe it goes to. Putting
// something in never waits.
type intake struct {
	to     *os.File
	passed func(chunk, error)
	// reported is closed once the outcome of every chunk of input has been reported.
	reported chan struct{}

	mu      sync.Mutex
	waiting []chunk
	size    int
	closed  bool
	wake    chan struct{}
}

// chunk is some input, from a client that asked for it to be passed on or, where
// asker is zero, from who has credit.
type chunk struct {
	data  []byte
	asker uint32
	last  bool
}

var (
	errClosedInput = errors.New("the command reads no input any more")
	errMuchInput   = errors.New("the command does not read, and as much input as can be kept waits for it already")
)

func newIntake(to *os.File, passed func(chunk, error)) *intake {
	return &intake{to: to, passed: passed, reported: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (i *intake) put(p chunk) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.closed:
		return errClosedInput
	case i.size+len(p.data) > wire.Window:
		return errMuchInput
	}
	i.waiting, i.size, i.closed = append(i.waiting, p), i.size+len(p.data), p.last
	select {
	case i.wake <- struct{}{}:
	default:
	}
	return nil
}

// pass writes what comes until the command reads no more, or is over.
func (i *intake) pass(over <-chan struct{}) {
	defer close(i.reported)
	defer i.close()
	for {
		p, some := i.first()
		if !some {
			select {
			case <-i.wake:
				continue
			case <-over:
				return
			}
		}
		if _, err := i.to.Write(p.data); err != nil {
			return
		}
		if p.last {
			i.to.Close()
		}
		i.report(nil)
		if p.last {
			return
		}
	}
}

func (i *intake) first() (p chunk, some bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.waiting) == 0 {
		return chunk{}, false
	}
	return i.waiting[0], true
}

// report reports the outcome of the first chunk.
func (i *intake) report(err error) {
	i.mu.Lock()
	p := i.waiting[0]
	i.waiting, i.size = i.waiting[1:], i.size-len(p.data)
	i.mu.Unlock()
	i.passed(p, err)
}

// close drops input that is not read.
func (i *intake) close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.to.Close()
	for {
		if _, some := i.first(); !some {
			return
		}
		i.report(errClosedInput)
	}
}
