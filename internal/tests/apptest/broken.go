package apptest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BrokenSidecar is a sidecar that is dead, stalls or talks nonsense.
type BrokenSidecar struct {
	// Name says what it does.
	Name string
	open func(tb testing.TB, network string) (address string)
}

// Open puts the broken sidecar at an address of its own, by "unix" or "tcp", until the
// test ends.
func (w BrokenSidecar) Open(tb testing.TB, network string) (address string) {
	tb.Helper()
	return w.open(tb, network)
}

// Names of some, for tests that want few of them.
const (
	Absent         = "is not there"
	Silent         = "takes the request and never answers"
	UnknownOutcome = "streams a result with an outcome that is not known"
)

// BrokenSidecars are all of them. A client that asks one must say that it failed, within
// the time that it gives itself, and nothing may run.
func BrokenSidecars() []BrokenSidecar {
	return []BrokenSidecar{
		{Absent, absent},
		{"was killed and left its address", left},
		{"hangs up at once", answers(func(net.Conn) {})},
		{"is killed when it has read the request", answers(func(c net.Conn) { read(c) })},
		{Silent, answers(func(c net.Conn) { read(c); stall(c) })},
		{"stalls in the head of its answer", answers(func(c net.Conn) { read(c); say(c, "HTTP/1.1 200 OK\r\nContent-"); stall(c) })},
		{"is killed in the middle of its answer",
			answers(func(c net.Conn) { read(c); say(c, head(500)+`{"decision_id": "d1", "decision": {"outcome": "allow",`) })},
		{"stalls in the middle of its answer", answers(func(c net.Conn) {
			read(c)
			say(c, head(500)+`{"decision_id": "d1", "decision": {"outcome": "allow",`)
			stall(c)
		})},
		{"drips its answer", answers(drip)},
		{"speaks no HTTP", answers(func(c net.Conn) { read(c); say(c, "\x00\xff\x13 allow completed\n") })},
		{"failed", page(http.StatusInternalServerError,
			`{"code": "internal", "message": "The sidecar failed at this request; its log says how."}`)},
		{"is another program", page(http.StatusOK, "<html><body>It works!</body></html>")},
		{"answers nothing", page(http.StatusOK, "")},
		{"answers an empty object", page(http.StatusOK, "{}")},
		{"answers null", page(http.StatusOK, "null")},
		{"answers a list", page(http.StatusOK, `[{"outcome": "allow"}]`)},
		{"answers half of an object", page(http.StatusOK, `{"decision_id": "d1", "decision": {"outcome": "allow"`)},
		{"answers a word that is not known", page(http.StatusOK,
			`{"decision_id": "d1", "decision": {"outcome": "permit", "denials": []}, "status": "fine", "exit_code": 0, "output": ""}`)},
		{"answers that it has no opinion", page(http.StatusOK, `{"decision_id": "d1", "result": {"decision": "not-applicable"}}`)},
		{"answers with the wrong types", page(http.StatusOK,
			`{"decision_id": 7, "decision": "allow", "status": true, "exit_code": "0", "output": 7}`)},
		{"streams no result", streams("event: decision\ndata: " + decided)},
		{"streams an empty result", streams("event: result\ndata: {}")},
		{"streams half of a result", streams("event: result\ndata: " + `{"request_id": "r1", "status": "completed"`)},
		{"streams a result that is not known", streams("event: result\ndata: " + strings.Replace(ended, `"completed"`, `"fine"`, 1))},
		{UnknownOutcome,
			streams("event: result\ndata: " + strings.Replace(ended, `"allow"`, `"permit"`, 1))},
		{"streams a result with the wrong types",
			streams("event: result\ndata: " + strings.Replace(ended, `"exit_code": 0`, `"exit_code": "0"`, 1))},
		{"lives and never ends", answers(func(c net.Conn) { read(c); say(c, streamHead); repeat(c, ": still here\n\n") })},
		{"drips a stream", answers(func(c net.Conn) { read(c); say(c, streamHead+"event: result\ndata: "); repeat(c, " ") })},
		{"sends elsewhere", answers(func(c net.Conn) {
			read(c)
			say(c, "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/v1/decide\r\nContent-Length: 0\r\n\r\n")
		})},
	}
}

// place is an address to listen at.
func place(tb testing.TB, network string) string {
	if network == "unix" {
		return filepath.Join(OpenDir(tb), "w.sock")
	}
	return "127.0.0.1:0"
}

func listen(tb testing.TB, network string) net.Listener {
	tb.Helper()
	l, err := net.Listen(network, place(tb, network))
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func absent(tb testing.TB, network string) string {
	address := left(tb, network)
	_ = os.Remove(strings.TrimPrefix(address, "unix://"))
	return address
}

func left(tb testing.TB, network string) string {
	l := listen(tb, network)
	if socket, ok := l.(*net.UnixListener); ok {
		socket.SetUnlinkOnClose(false)
	}
	_ = l.Close()
	return network + "://" + l.Addr().String()
}

// answers is a broken sidecar that does the same with every connection, then closes it.
func answers(serve func(net.Conn)) func(testing.TB, string) string {
	return func(tb testing.TB, network string) string {
		l := listen(tb, network)
		tb.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				context.AfterFunc(tb.Context(), func() { _ = c.Close() })
				go func() { defer c.Close(); serve(c) }()
			}
		}()
		return network + "://" + l.Addr().String()
	}
}

func page(status int, body string) func(testing.TB, string) string {
	return answers(func(c net.Conn) {
		read(c)
		say(c, fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
			status, http.StatusText(status), len(body), body))
	})
}

func head(length int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
}

// read takes one request whole.
func read(c net.Conn) {
	if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

func say(c net.Conn, text string) { _, _ = c.Write([]byte(text)) }

// stall waits until the client gives up, or the test ends.
func stall(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }

// decided and ended are what a sidecar says, from which broken sidecars depart.
const (
	decision = `{"outcome": "allow", "denials": [], "backend": {"name": "docker"}, "env": {}, "limits": {}, "revision": "r"}`
	decided  = `{"decision_id": "d1", "decision": ` + decision + `}`
	ended    = `{"request_id": "r1", "decision_id": "d1", "status": "completed", "exit_code": 0, "output": "", ` +
		`"output_encoding": "utf8", ` +
		`"truncated": false, "duration_seconds": 0.1, "backend": "docker", "sandbox_id": "s1", ` +
		`"process_id": "", "message": "", "decision": ` + decision + `}`
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
)

// streams tells of one event and hangs up.
func streams(event string) func(testing.TB, string) string {
	return answers(func(c net.Conn) { read(c); say(c, streamHead+event+"\n\n") })
}

// drip sends an answer so slowly that it never ends, while no single read takes long.
func drip(c net.Conn) {
	read(c)
	say(c, head(1<<20)+`{"decision_id": "`)
	repeat(c, "d")
}

func repeat(c net.Conn, what string) {
	for {
		if _, err := c.Write([]byte(what)); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // the pace is what is tried
	}
}
