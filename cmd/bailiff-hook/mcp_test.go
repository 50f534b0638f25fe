package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

// oneConnection is a sidecar that takes one connection, answers what opens it, and says what it was
// asked and then sent.
func oneConnection(t *testing.T, answer string) (listen string, asked chan api.MCPOpening, sent chan string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.sock")
	socket, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	asked, sent = make(chan api.MCPOpening, 1), make(chan string, 1)
	go func() {
		conn, err := socket.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		from := bufio.NewReader(conn)
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		var o api.MCPOpening
		_ = json.NewDecoder(r.Body).Decode(&o)
		asked <- o
		_, _ = io.WriteString(conn, answer)
		line, _ := from.ReadString('\n')
		sent <- line
	}()
	return "unix://" + path, asked, sent
}

const switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bailiff-mcp\r\n\r\n"

func TestLinesAreCarriedToAnMCPServerAndBack(t *testing.T) {
	listen, asked, sent := oneConnection(t, switched+"{\"its\": 1}\n")
	from, to := io.Pipe()
	var out, errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- speakMCP([]string{"files", "--listen", listen, "--platform", "cli", "--env", "TOKEN", "--header",
			"X: $TOKEN", "--wait", "7", "--", "serve", "-x"},
			from, &out, &errs)
	}()
	o := <-asked
	got := fmt.Sprintf("%s %v %v %v %d %s", o.Server, o.Command, o.Env, o.Headers, *o.WaitSeconds, o.Session.Platform)
	if got != "files [serve -x] [TOKEN] [X: $TOKEN] 7 cli" {
		t.Errorf("asked was for %s", got)
	}
	if _, err := io.WriteString(to, "{\"mine\": 1}\n"); err != nil {
		t.Fatal(err)
	}
	if line := <-sent; line != "{\"mine\": 1}\n" {
		t.Errorf("sent was %q", line)
	}
	if status := <-ended; status != 1 || out.String() != "{\"its\": 1}\n" || !strings.Contains(errs.String(), "ended: the server did") {
		t.Errorf("it ended with %d, %q, %q", status, out.String(), errs.String())
	}
}

func TestWhyAnMCPServerIsNotReachedIsSaid(t *testing.T) {
	body := `{"code":"invalid_request","message":"No."}`
	refusing, _, _ := oneConnection(t, fmt.Sprintf("HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	older, _, _ := oneConnection(t, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	for want, args := range map[string][]string{
		"want the command that starts the server, or its URL,": {"files"},
		"--lisen":            {"files", "--lisen", "x", "--", "serve"},
		"no sidecar answers": {"files", "--listen", "unix://" + filepath.Join(t.TempDir(), "none"), "--", "serve"},
		": No\n":             {"files", "--listen", refusing, "--", "serve"},
		"it is older than":   {"files", "--listen", older, "--", "serve"},
	} {
		var out, errs bytes.Buffer
		status := speakMCP(args, strings.NewReader(""), &out, &errs)
		if status != 1 || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%q: %d, %q, want %q", args, status, errs.String(), want)
		}
	}
}
