// Package carrier carries the runner's stream of bytes over APIs that are none: lines of text
// ([Text]), files in a folder ([NewFileWriter]), or calls that each take a while
// ([BatchWriter]).
//
// Promised: bytes arrive as they were sent, in order and once, or the stream fails.
//
// Not here: the frames on the stream (package wire), and the calls of an API.
package carrier

import (
	"io"
	"sync"
)

// BatchWriter sends the bytes written to it in batches, one after the other: each holds the
// bytes that came while the one before was being sent. A write waits only while too many
// bytes are waiting.
type BatchWriter struct {
	most   int
	call   func(batch []byte) error
	failed func(error)

	mu      sync.Mutex
	room    sync.Cond
	waiting []byte
	sending bool
	err     error
}

// NewBatchWriter makes one for batches of so many bytes at most. Call sends a batch, and is
// not called concurrently. After an error of it failed is called, and no batch follows.
func NewBatchWriter(most int, call func(batch []byte) error, failed func(error)) *BatchWriter {
	w := &BatchWriter{most: most, call: call, failed: failed}
	w.room.L = &w.mu
	return w
}

func (w *BatchWriter) Write(p []byte) (int, error) {
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

// send sends batches until no bytes are waiting.
func (w *BatchWriter) send() {
	for {
		batch := w.take()
		if len(batch) == 0 {
			return
		}
		if err := w.call(batch); err != nil {
			w.end(err)
			w.failed(err)
			return
		}
	}
}

func (w *BatchWriter) take() (batch []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), w.most)
	if w.err != nil || n == 0 {
		w.sending = false
		return nil
	}
	batch, w.waiting = w.waiting[:n:n], w.waiting[n:]
	w.room.Broadcast()
	return batch
}

// Close sends no further batch; the one being sent goes on.
func (w *BatchWriter) Close() error {
	w.end(io.ErrClosedPipe)
	return nil
}

func (w *BatchWriter) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err, w.waiting = err, nil
	}
	w.room.Broadcast()
}
