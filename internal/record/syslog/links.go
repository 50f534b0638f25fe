package syslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// datagrams are messages by UDP, one each.
type datagrams struct{ conn net.Conn }

func openDatagrams(conn net.Conn) (link, error) { return datagrams{conn}, nil }

func (datagrams) end() {}

// largest is what a datagram over IPv4 can hold.
const largest = 65_507

func (d datagrams) send(messages iter.Seq2[[]byte, error]) error {
	for m, err := range messages {
		if err != nil {
			return err
		}
		if len(m) > largest {
			return refused{fmt.Sprintf("of %d bytes, a datagram holds %d", len(m), largest)}
		}
		if _, err := d.conn.Write(m); err != nil {
			return err
		}
	}
	return nil
}

// buffered is how many bytes of a stream go to the kernel at once.
const buffered = 32 << 10

// stream is messages by TCP, each after its length. A receiver never answers, so what is
// read says that it is gone.
type stream struct {
	conn net.Conn
	gone atomic.Bool
}

func openStream(conn net.Conn) (link, error) {
	s := &stream{conn: conn}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		s.gone.Store(true)
	}()
	return s, nil
}

func (*stream) end() {}

func (s *stream) send(messages iter.Seq2[[]byte, error]) error {
	if s.gone.Load() {
		return errors.New("it closed the connection")
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	w := bufio.NewWriterSize(s.conn, buffered)
	for m, err := range messages {
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%d ", len(m)); err != nil {
			return err
		}
		if _, err := w.Write(m); err != nil {
			return err
		}
	}
	return w.Flush()
}

// relp is a session of RELP (librelp's description, version 0): frames with a number, each
// of which is answered.
type relp struct {
	conn net.Conn
	w    *bufio.Writer
	r    *bufio.Reader
	last int
	open int // messages on their way without an answer
}

const offers = "relp_version=0\nrelp_software=bailiff\ncommands=syslog"

func openRELP(conn net.Conn) (link, error) {
	r := &relp{conn: conn, w: bufio.NewWriterSize(conn, buffered), r: bufio.NewReader(conn)}
	if err := r.frame("open", []byte(offers)); err != nil {
		return nil, err
	}
	if err := r.w.Flush(); err != nil {
		return nil, err
	}
	return r, r.answer()
}

func (r *relp) end() {
	if r.conn.SetDeadline(time.Now().Add(time.Second)) == nil && r.frame("close", nil) == nil {
		_ = r.w.Flush() // it is over in either case
	}
}

// window is how many messages are on their way without an answer: fewer than fill the
// buffers of both sides with answers that are not read.
const window = 128

// send has messages follow as answers come, so that the receiver always has some to go on with.
func (r *relp) send(messages iter.Seq2[[]byte, error]) error {
	if err := r.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for m, err := range messages {
		if err == nil && r.open == window {
			err = r.hear()
		}
		if err == nil {
			err = r.frame("syslog", m)
		}
		if err != nil {
			return err
		}
		r.open++
	}
	for r.open > 0 {
		if err := r.hear(); err != nil {
			return err
		}
	}
	return nil
}

// hear waits for an answer, and reads those that came with it.
func (r *relp) hear() error {
	if err := r.w.Flush(); err != nil {
		return err
	}
	acknowledge(r.conn)
	for more := true; more; more = r.open > 0 && r.r.Buffered() > 0 {
		if err := r.answer(); err != nil {
			return err
		}
		r.open--
	}
	return r.conn.SetDeadline(time.Now().Add(patience))
}

// mostNumber is the largest number of a frame; 1 follows it.
const mostNumber = 999_999_999

func (r *relp) frame(command string, data []byte) error {
	r.last = r.last%mostNumber + 1
	_, err := fmt.Fprintf(r.w, "%d %s %d", r.last, command, len(data))
	if err == nil && len(data) > 0 {
		_ = r.w.WriteByte(' ') // an error stays
		_, err = r.w.Write(data)
	}
	if err == nil {
		err = r.w.WriteByte(10)
	}
	return err
}

// mostAnswered bounds an answer.
const mostAnswered = 64 << 10

// answer reads "NUMBER rsp LENGTH 200 OK\n".
func (r *relp) answer() error {
	var words [3]string
	for i := range words {
		word, err := r.r.ReadString(' ')
		if err != nil {
			return err
		}
		if words[i] = strings.TrimSpace(word); i == 0 && words[0] == "0" { // a hint, such as that it closes
			return errors.New("it closed the session")
		}
	}
	length, err := strconv.Atoi(words[2])
	if err != nil || words[1] != "rsp" || length < 0 || length > mostAnswered {
		return fmt.Errorf("it answers %q, which is no RELP", strings.Join(words[:], " "))
	}
	data := make([]byte, length+1) // and the line's end
	if _, err := io.ReadFull(r.r, data); err != nil {
		return err
	}
	if said := strings.TrimSpace(string(data)); !strings.HasPrefix(said, "200") {
		return refused{strconv.Quote(said)}
	}
	return nil
}
