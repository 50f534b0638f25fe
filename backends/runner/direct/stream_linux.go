package direct

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// silence is how long a connection to the resolver may say nothing, or wait for its answer.
const silence = 10 * time.Second

// hearStream takes queries that come by a connection.
func (w *Way) hearStream(fd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.streams >= mostStreams {
		unix.Close(fd)
		return
	}
	w.streams++
	go func() {
		program, _ := unix.Getpeername(fd)
		resolver, _ := unix.Getsockname(fd)
		of := sync.OnceValue(func() int { return Owner("tcp", program, resolver) })
		w.converse(os.NewFile(uintptr(fd), ""), of)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.streams--
	}()
}

// converse answers the queries of a connection, each with its length before it.
func (w *Way) converse(program *os.File, of func() int) {
	defer program.Close()
	for program.SetDeadline(time.Now().Add(silence)) == nil {
		var length [2]byte
		if _, err := io.ReadFull(program, length[:]); err != nil {
			return
		}
		size := int(binary.BigEndian.Uint16(length[:]))
		if size > wire.MaxQuery {
			return
		}
		query := make([]byte, size)
		if _, err := io.ReadFull(program, query); err != nil {
			return
		}
		answer := w.awaitAnswer(query, of)
		if len(answer) == 0 || len(answer) > wire.MaxPayload {
			return
		}
		if _, err := program.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// awaitAnswer is empty where none comes in time.
func (w *Way) awaitAnswer(query []byte, of func() int) []byte {
	answered := make(chan []byte, 1)
	if !w.query(query, of, func(answer []byte) { answered <- answer }) {
		return nil
	}
	select {
	case answer := <-answered:
		return answer
	case <-w.over:
	case <-time.After(silence):
	}
	return nil
}
