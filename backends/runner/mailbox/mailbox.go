// Package mailbox is how bytes come into a place by files, where files can be
// written but no program's input: letters 1, 2, 3… in one folder, each of which
// says by itself when it is there as a whole. Who writes them need not be able to
// rename a file, nor to write one at once.
package mailbox

import (
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"sync"
)

// MaxBytes bounds what a letter carries.
const MaxBytes = 1 << 20

// Name is the file of a letter, the first being 1.
func Name(number int) string { return strconv.Itoa(number) }

// Seal makes the content of a letter's file.
func Seal(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(sum[:], data...)
}

var errUnfinished = errors.New("the letter is not there as a whole")

// Open is the reverse; an error means that more is to come.
func Open(content []byte) ([]byte, error) {
	if len(content) < sha256.Size {
		return nil, errUnfinished
	}
	data := content[sha256.Size:]
	if sha256.Sum256(data) != [sha256.Size]byte(content) {
		return nil, errUnfinished
	}
	return data, nil
}

// Sender puts what is written into letters, one after the other: as much into each
// as came while the one before was under way. A write waits for no letter but where
// too much lies already.
type Sender struct {
	deliver func(number int, letter []byte) error
	failed  func(error)

	mu      sync.Mutex
	room    sync.Cond
	waiting []byte
	sending bool
	number  int
	err     error
}

// NewSender delivers letters by a function, which is not called concurrently. When
// one was not delivered, failed is told, and none follows.
func NewSender(deliver func(number int, letter []byte) error, failed func(error)) *Sender {
	s := &Sender{deliver: deliver, failed: failed}
	s.room.L = &s.mu
	return s
}

func (s *Sender) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && len(s.waiting) >= MaxBytes {
		s.room.Wait()
	}
	if s.err != nil {
		return 0, s.err
	}
	s.waiting = append(s.waiting, p...)
	if !s.sending {
		s.sending = true
		go s.send()
	}
	return len(p), nil
}

// send delivers letters until nothing is left to be said.
func (s *Sender) send() {
	for {
		data, number := s.take()
		if len(data) == 0 {
			return
		}
		if err := s.deliver(number, Seal(data)); err != nil {
			s.end(err)
			s.failed(err)
			return
		}
	}
}

func (s *Sender) take() (data []byte, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.waiting), MaxBytes)
	if s.err != nil || n == 0 {
		s.sending = false
		return nil, 0
	}
	data, s.waiting = s.waiting[:n:n], s.waiting[n:]
	s.number++
	s.room.Broadcast()
	return data, s.number
}

// Close delivers nothing more.
func (s *Sender) Close() error {
	s.end(io.ErrClosedPipe)
	return nil
}

func (s *Sender) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err, s.waiting = err, nil
	}
	s.room.Broadcast()
}
