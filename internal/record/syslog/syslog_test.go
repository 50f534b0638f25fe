package syslog

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const line = `{"decision_id":"d-1","timestamp":"2026-11-27T14:50:44.300125737Z","custom":{"event":"decision"}}`

func client(t *testing.T, s Server) *Client {
	t.Helper()
	made, err := New(s, nil)
	must(t, err)
	t.Cleanup(made.Close)
	return made
}

func send(t *testing.T, c *Client, lines ...string) error {
	t.Helper()
	var all [][]byte
	for _, line := range lines {
		all = append(all, []byte(line))
	}
	began := 0
	err := c.Send(t.Context(), all, func() { began++ }, nil)
	if began != 1 {
		t.Errorf("%d tries began", began)
	}
	return err
}

// standard matches a message without structured data, by the grammar of RFC 5424, section 6.
var standard = regexp.MustCompile(`(?s)^<(0|[1-9]\d{0,2})>1 (-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z) ` +
	`[!-~]{1,255} bailiff ([!-~]{1,128}) [!-~]{1,32} - (.*)$`)

func TestMessagesAreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	c := client(t, Server{Address: "udp://127.0.0.1:514"})
	for text, severity := range map[string]int{
		line: 6,
		strings.Replace(line, `"custom"`, `"error":{"message":"x"},"custom"`, 1):                                                      3,
		strings.Replace(line, `"custom"`, `"result":{"denials":[{"severity":"low"},{"severity":"critical"}]},"custom"`, 1):            2,
		strings.Replace(line, `"custom"`, `"result":{"approval":{"reasons":[{"severity":"medium"},{"severity":"odd"}]}},"custom"`, 1): 4,
		`no event`: 6,
		strings.Replace(line, `decision"}}`, `de\ncision"}}`, 1): 6,
	} {
		made, err := c.message([]byte(text))
		must(t, err)
		read := standard.FindStringSubmatch(string(made))
		if read == nil || read[1] != strconv.Itoa(13*8+severity) || read[3] != strconv.Itoa(os.Getpid()) || read[4] != text {
			t.Errorf("%s is read as %q", made, read)
		}
	}
}

func TestAddressesAreOfAProtocolAHostAndAPort(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "siem:514", "http://siem:514", "tcp://siem", "tcp://:514", "tcp://siem:x", "tcp://siem:70000",
		"tls://siem:6514/x", "tls://ana@siem:6514"} {
		if err := checkAddress(address); err == nil || !strings.Contains(err.Error(), "tls://siem.example.com:6514") {
			t.Errorf("of %q: %v", address, err)
		}
	}
	for address, plain := range map[string]bool{"udp://siem:514": true, "tcp://10.0.0.1:514": true, "relp://[2001:db8::1]:2514": true,
		"tls://siem:6514": false, "relp+tls://siem:2514": false, "tcp://localhost:514": false, "udp://127.0.0.9:514": false} {
		if checkAddress(address) != nil || isPlain(address) != plain {
			t.Errorf("%s: %v, plain %v", address, checkAddress(address), isPlain(address))
		}
	}
}

// serve answers one connection after another.
func serve(t *testing.T, listener net.Listener, each func(net.Conn)) string {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			each(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return listener.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return listener
}

func TestByTLSTheReceiverIsKnownByItsCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	c := client(t, Server{Address: "tls://" + server.Listener.Addr().String(), CAFile: file})
	must(t, send(t, c, line))
	other := client(t, Server{Address: "tls://" + server.Listener.Addr().String()})
	if err := send(t, other, line); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("of an unknown certificate: %v", err)
	}
	if _, err := New(Server{Address: "tls://siem:6514", CAFile: "nowhere.pem"}, nil); err == nil {
		t.Error("authorities that are not there are taken")
	}
}

func TestByTCPEachMessageStandsAfterItsLength(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	address := serve(t, listen(t), func(conn net.Conn) {
		for in := bufio.NewReader(conn); ; {
			var length int
			if _, err := fmt.Fscanf(in, "%d ", &length); err != nil {
				return
			}
			message := make([]byte, length)
			_, err := io.ReadFull(in, message)
			if read := standard.FindSubmatch(message); err == nil && read != nil {
				got <- string(read[4])
			}
		}
	})
	c, err := New(Server{Address: "tcp://" + address}, func(line []byte) ([]byte, error) { return append([]byte("told "), line...), nil })
	must(t, err)
	must(t, send(t, c, line, line+"\n2"))
	c.Close()
	if first, second := <-got, <-got; first != "told "+line || second != "told "+line+"\n2" {
		t.Errorf("it got %q and %q", first, second)
	}
}

func TestAClosedConnectionIsMadeAnew(t *testing.T) {
	t.Parallel()
	met := make(chan struct{}, 10)
	address := serve(t, listen(t), func(net.Conn) { met <- struct{}{} }) // and closes it
	c := client(t, Server{Address: "tcp://" + address})
	must(t, send(t, c, line))
	<-met
	for send(t, c, line) == nil { // until the end has come
	}
	must(t, send(t, c, line))
	<-met
}

func TestWhatARELPReceiverRefusesIsToBlame(t *testing.T) {
	t.Parallel()
	for said, blamed := range map[string]bool{"3 rsp 9 500 large\n": true, "0 serverclose 0\n": false, "3 rsp x y\n": false, "": false,
		"3 open 6 200 OK\n": false} {
		address := serve(t, listen(t), func(conn net.Conn) {
			r := bufio.NewReader(conn)
			_, _ = r.ReadString('\n') // the offers, in three lines
			_, _ = r.ReadString('\n')
			_, _ = r.ReadString('\n')
			_, _ = io.WriteString(conn, "1 rsp 6 200 OK\n")
			_, _ = r.ReadString('\n')
			_, _ = io.WriteString(conn, "2 rsp 6 200 OK\n"+said)
		})
		c := client(t, Server{Address: "relp://" + address})
		must(t, send(t, c, line))
		if err := send(t, c, line); err == nil || c.Blames(err) != blamed {
			t.Errorf("after %q: %v, to blame %v", said, err, c.Blames(err))
		}
	}
}

func TestByRELPAMessageFollowsEachAnswer(t *testing.T) {
	t.Parallel()
	const more = 5
	address := serve(t, listen(t), func(conn net.Conn) {
		r := bufio.NewReader(conn)
		read := func(n int) {
			for range n {
				_, _ = r.ReadString('\n')
			}
		}
		answered := 0
		answer := func(n int) {
			for range n {
				answered++
				_, _ = fmt.Fprintf(conn, "%d rsp 6 200 OK\n", answered)
			}
		}
		read(3) // the offers, in three lines
		answer(1)
		read(window)
		for range more {
			answer(1)
			read(1) // which would never come if all answers were waited for
		}
		answer(window)
	})
	c := client(t, Server{Address: "relp://" + address})
	must(t, send(t, c, slices.Repeat([]string{line}, window+more)...))
}

func TestADatagramHoldsSoMuch(t *testing.T) {
	t.Parallel()
	c := client(t, Server{Address: "udp://127.0.0.1:9"})
	if err := send(t, c, strings.Repeat("x", 70_000)); err == nil || !c.Blames(err) {
		t.Errorf("got %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
