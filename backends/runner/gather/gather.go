// Package gather is for writing where each write takes a journey: what comes while
// one is under way goes together by the next.
package gather

import (
	"io"
	"sync"
)

// Writer carries what is written to it, one load after the other: in each as much as
// came while the one before was under way. A write waits for no load but where too
// much lies already.
type Writer struct {
	most   int
	carry  func(load []byte) error
	failed func(error)

	mu      sync.Mutex
	room    sync.Cond
	waiting []byte
	sending bool
	err     error
}

// New makes one for loads of so many bytes at most. Carry is not called concurrently.
// When it has failed, failed is told, and nothing follows.
func New(most int, carry func(load []byte) error, failed func(error)) *Writer {
	w := &Writer{most: most, carry: carry, failed: failed}
	w.room.L = &w.mu
	return w
}

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && len(w.waiting) >= w.most {
		w.room.Wait()
	}
	if w.err != nil {
		return 0, w.err
	}
	w.waiting = append(w.waiting, p...)
	if !w.sending {
		w.sending = true
		go w.send()
	}
	return len(p), nil
}

// send carries loads until nothing is left to be said.
func (w *Writer) send() {
	for {
		load := w.take()
		if len(load) == 0 {
			return
		}
		if err := w.carry(load); err != nil {
			w.end(err)
			w.failed(err)
			return
		}
	}
}

func (w *Writer) take() (load []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), w.most)
	if w.err != nil || n == 0 {
		w.sending = false
		return nil
	}
	load, w.waiting = w.waiting[:n:n], w.waiting[n:]
	w.room.Broadcast()
	return load
}

// Close carries nothing more, but what is under way.
func (w *Writer) Close() error {
	w.end(io.ErrClosedPipe)
	return nil
}

func (w *Writer) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err, w.waiting = err, nil
	}
	w.room.Broadcast()
}
