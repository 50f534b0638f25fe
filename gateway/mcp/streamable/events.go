package streamable

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

const (
	// longest bounds a message; one of more than usual bytes is a large one.
	longest = 8 << 20
	usual   = 64 << 10
)

var errLong = fmt.Errorf("the server's answer has more than %d MiB, and was dropped: ask for less", longest>>20)

// place is where one message is read, of which few are for large ones.
type place struct {
	server  *Server
	isLarge bool
}

// take takes a place for a large message.
func (p *place) take(ctx context.Context) error {
	if p.isLarge {
		return nil
	}
	select {
	case p.server.large <- struct{}{}:
		p.isLarge = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// free gives it to another.
func (p *place) free() {
	if p.isLarge {
		p.isLarge = false
		<-p.server.large
	}
}

// text is a message as it comes, or a line of one.
type text struct {
	at    *place
	bytes []byte
}

// add adds a piece.
func (t *text) add(ctx context.Context, piece []byte) error {
	size := len(t.bytes) + len(piece)
	if size > longest {
		return errLong
	}
	if size > usual {
		if err := t.at.take(ctx); err != nil {
			return err
		}
	}
	t.bytes = append(t.bytes, piece...)
	return nil
}

// empty empties it, and keeps no large buffer.
func (t *text) empty() {
	if t.bytes = t.bytes[:0]; cap(t.bytes) > usual {
		t.bytes = nil
	}
}

// events are those of a stream, as HTML's "server-sent events" has them.
type events struct {
	place
	from *bufio.Reader
	// retry is how long the server wants to be let be when the stream has ended.
	retry time.Duration
	// data are the lines of data of the event so far, line is the one that is read.
	data, line text
	hasData    bool
	isOther    bool // the event is no message
}

func newEvents(s *Server, body io.Reader) *events {
	e := &events{from: bufio.NewReader(body), place: place{server: s}}
	e.data.at, e.line.at = &e.place, &e.place
	return e
}

// next is the data of the next event, empty where that is no message. It holds until the next one.
func (e *events) next(ctx context.Context) ([]byte, error) {
	e.data.empty()
	e.line.empty()
	e.free()
	e.hasData, e.isOther = false, false
	for {
		line, err := e.nextLine(ctx)
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if e.isOther {
				return nil, nil
			}
			return e.data.bytes, nil
		}
		if err := e.field(ctx, line); err != nil {
			return nil, err
		}
	}
}

// field takes one line of an event.
func (e *events) field(ctx context.Context, line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.isOther = len(value) > 0 && string(value) != "message"
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
			e.retry = min(time.Duration(min(ms, 1<<30))*time.Millisecond, longestWait)
		}
	case "data":
		if e.hasData {
			if err := e.data.add(ctx, []byte("\n")); err != nil {
				return err
			}
		}
		e.hasData = true
		return e.data.add(ctx, value)
	}
	return nil
}

// nextLine is the next line without its end, which is that of Unix or of Windows.
func (e *events) nextLine(ctx context.Context) ([]byte, error) {
	e.line.empty()
	for {
		piece, err := e.from.ReadSlice('\n')
		if grown := e.line.add(ctx, piece); grown != nil {
			return nil, grown
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(e.line.bytes, []byte("\n")), []byte("\r")), nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, broken(err)
		}
	}
}
