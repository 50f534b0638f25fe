package carrier

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"
)

// opening is the first line of both sides, alone at the end of a line.
const opening = "bailiff-text"

// A line holds at most so many bytes, and is at most so long. Terminals and logs
// take lines of 4096.
const (
	lineBytes  = 3000
	lineLength = lineBytes / 3 * 4
)

// Text is the client's side of a stream of text, in which each line holds some bytes in
// base64. Its bytes leave when the runner has opened, which is learnt by reading. Closing it
// closes the stream.
//
// Before the first bytes either side sends one opening line. Earlier output, such as the
// greeting of a shell or the echo of a terminal, is skipped; after the opening any other
// line is damage, and ends the stream. The runner opens first, and the client sends nothing
// before: until then the reader may be a shell, on a terminal that cuts long lines.
func Text(stream io.ReadWriteCloser) io.ReadWriteCloser { return newTextStream(stream) }

// TextInside is the runner's side, and opens at once.
func TextInside(stream io.ReadWriteCloser) (io.ReadWriteCloser, error) {
	if _, err := io.WriteString(stream, opening+"\n"); err != nil {
		return nil, fmt.Errorf("opening a stream of text: %w", err)
	}
	w := newTextStream(stream)
	w.opened = true
	close(w.met)
	return w, nil
}

func newTextStream(stream io.ReadWriteCloser) *textStream {
	return &textStream{
		stream: stream, lines: bufio.NewReaderSize(stream, 2*lineLength), bytes: make([]byte, 2*lineLength),
		met: make(chan struct{}), closed: make(chan struct{}),
	}
}

// textStream is read by one at a time.
type textStream struct {
	stream io.ReadWriteCloser
	lines  *bufio.Reader
	heard  bool
	bytes  []byte // room for those of one line
	rest   []byte // what of them is not handed out
	fault  error

	// met is closed when the other side may be spoken to.
	met     chan struct{}
	writing sync.Mutex
	opened  bool
	text    []byte

	closed chan struct{}
	close  sync.Once
}

func (w *textStream) Read(p []byte) (int, error) {
	for len(w.rest) == 0 && w.fault == nil {
		w.fault = w.next()
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	if n == 0 && len(p) > 0 {
		return 0, w.fault
	}
	return n, nil
}

// next takes one line.
func (w *textStream) next() error {
	line, err := w.lines.ReadSlice('\n')
	switch {
	case !w.heard && errors.Is(err, bufio.ErrBufferFull):
		return nil
	case err != nil:
		return damage(line, err)
	}
	line = bytes.TrimRight(line, "\r\n")
	if !w.heard {
		w.hear(line)
		return nil
	}
	return w.decode(line)
}

// damage is the fault of a stream that ends, or goes on, in the middle of a line.
func damage(line []byte, err error) error {
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return io.EOF
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading a line of base64: %w", err)
}

// hear looks for the opening. A shell's prompt may stand before it.
func (w *textStream) hear(line []byte) {
	w.heard = bytes.HasSuffix(line, []byte(opening))
	select {
	case <-w.met:
	default:
		if w.heard {
			close(w.met)
		}
	}
}

func (w *textStream) decode(line []byte) error {
	n, err := base64.StdEncoding.Decode(w.bytes, line)
	if err != nil || n == 0 {
		return errors.New("reading a line of base64: it is damaged")
	}
	w.rest = w.bytes[:n]
	return nil
}

func (w *textStream) Write(p []byte) (int, error) {
	select {
	case <-w.met:
	case <-w.closed:
		return 0, io.ErrClosedPipe
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	w.text = w.text[:0]
	if !w.opened {
		w.text = append(w.text, opening+"\n"...)
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), lineBytes)
		w.text = base64.StdEncoding.AppendEncode(w.text, rest[:n])
		w.text = append(w.text, '\n')
		rest = rest[n:]
	}
	if _, err := w.stream.Write(w.text); err != nil {
		return 0, err
	}
	w.opened = true
	return len(p), nil
}

func (w *textStream) Close() error {
	w.close.Do(func() { close(w.closed) })
	return w.stream.Close()
}
