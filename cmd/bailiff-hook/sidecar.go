package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// decided is a decision of the sidecar, with the folders of its machine that the sandbox shows
// as they are.
type decided struct {
	bailiff.Decision
	projects []string
	// unread are files of the command that the sidecar did not judge.
	unread []string
	// connects says that it judged the connection, too.
	connects bool
}

// decide asks the sidecar what it would decide, once, which the decision log holds. An answer
// that is no decision whole in itself is an error.
func (p program) decide(ctx context.Context, req bailiff.Request) (decided, error) {
	return p.ask(ctx, "/v1/decide", req)
}

// noFolder is no folder's device and inode.
const noFolder = "0:0"

// decideHere asks the same about what the client runs in a folder of this machine. Where the sidecar does not see that folder, it
// says what it did not look at.
func (p program) decideHere(ctx context.Context, req bailiff.Request) (decided, error) {
	folder := noFolder
	if about, err := os.Stat(req.Args.Workdir); err == nil {
		if of, ok := about.Sys().(*syscall.Stat_t); ok {
			folder = fmt.Sprintf("%d:%d", of.Dev, of.Ino)
		}
	}
	return p.ask(ctx, "/v1/decide?folder="+folder, req)
}

// preview asks the same about a request that runs by the sidecar alone, which writes its
// decision down then.
func (p program) preview(ctx context.Context, req bailiff.Request) (decided, error) {
	return p.ask(ctx, "/v1/decide?then=execute", req)
}

// connection asks the same about what the client does by reaching an address.
func (p program) connection(ctx context.Context, req bailiff.Request, address string) (decided, error) {
	d, err := p.ask(ctx, "/v1/decide?connects="+url.QueryEscape(address), req)
	if err == nil && !d.connects && d.Outcome != bailiff.Deny {
		err = fmt.Errorf("the sidecar at %s is older than this program and judges no connections of tools; start it anew", p.listen)
	}
	return d, err
}

func (p program) ask(ctx context.Context, path string, req bailiff.Request) (decided, error) {
	body, err := json.Marshal(req)
	if err == nil && len(body) > mostAsked {
		err = fmt.Errorf("what the tool is to do is longer than the %d MiB that a request may have", mostAsked>>20)
	}
	if err != nil {
		return decided{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	status, answer, err := p.post(ctx, path, body)
	if err != nil {
		return decided{}, fmt.Errorf("asking the sidecar at %s: %w", p.listen, err)
	}
	d, err := readDecision(status, answer)
	if err != nil {
		return decided{}, fmt.Errorf("reading the answer of the sidecar at %s: %w", p.listen, err)
	}
	return d, nil
}

// mostAsked bounds a request, as every listener does.
const mostAsked = 1 << 20

// most bounds an answer, with its head.
const most = 1 << 20

func (p program) post(ctx context.Context, path string, body []byte) (status string, answer []byte, err error) {
	until, _ := ctx.Deadline()
	conn, host, token, err := p.dial(until)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = conn.Close() }()
	return exchange(conn, request("POST "+path+" HTTP/1.0", host, token, body))
}

// dial connects to the sidecar, and gives up then.
func (p program) dial(until time.Time) (conn net.Conn, host string, token bailiff.Secret, err error) {
	if token, err = p.token(); err != nil {
		return nil, "", token, err
	}
	network, address, _ := strings.Cut(p.listen, "://")
	if (network != "unix" && network != "tcp") || address == "" {
		return nil, "", token, errors.New("want unix:///path or tcp://host:port (--listen)")
	}
	if conn, err = (&net.Dialer{Deadline: until}).Dial(network, address); err != nil {
		return nil, "", token, hinted(err)
	}
	_ = conn.SetDeadline(until)
	if network == "tcp" {
		return conn, address, token, nil
	}
	return conn, "bailiff", token, nil
}

// request is written by hand, and its answer read so, since an HTTP client takes as
// long to be ready as most of this program. By this version of HTTP an answer is what
// comes until the sidecar hangs up; one that was cut off is no whole decision.
func request(line, host string, token bailiff.Secret, body []byte, more ...string) []byte {
	var r bytes.Buffer
	fmt.Fprintf(&r, "%s\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", line, host, len(body))
	for _, header := range more {
		r.WriteString(header + "\r\n")
	}
	if token := token.Reveal(); token != "" {
		fmt.Fprintf(&r, "Authorization: Bearer %s\r\n", token)
	}
	if parent := os.Getenv("TRACEPARENT"); bailiff.CanBeTraceparent(parent) {
		fmt.Fprintf(&r, "traceparent: %s\r\n", parent)
	}
	r.WriteString("\r\n")
	r.Write(body)
	return r.Bytes()
}

// exchange asks one question by a connection.
func exchange(conn net.Conn, request []byte) (status string, answer []byte, err error) {
	if _, err := conn.Write(request); err != nil {
		return "", nil, err
	}
	all, err := io.ReadAll(io.LimitReader(conn, most+1))
	if err != nil {
		return "", nil, err
	}
	head, answer, whole := bytes.Cut(all, []byte("\r\n\r\n"))
	line, _, _ := strings.Cut(string(head), "\r\n")
	version, rest, _ := strings.Cut(line, " ")
	status, _, _ = strings.Cut(rest, " ")
	if !whole || len(all) > most || !strings.HasPrefix(version, "HTTP/1.") {
		return "", nil, errors.New("its answer is no HTTP, or cut off, or too long")
	}
	return status, answer, nil
}

func (p program) token() (bailiff.Secret, error) {
	if p.tokenFile == "" {
		return bailiff.Secret{}, nil
	}
	token, err := trust.Token(p.tokenFile)
	if err != nil {
		return bailiff.Secret{}, fmt.Errorf("reading the token: %w", err)
	}
	if strings.ContainsAny(token, "\r\n") {
		return bailiff.Secret{}, fmt.Errorf("reading the token: %s holds more than one line", p.tokenFile)
	}
	return bailiff.NewSecret(token), nil
}

// hinted says what to do about a sidecar that is not there.
func hinted(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no sidecar answers (%w); start one with \"bailiff serve\"", err)
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w; the client's own sandbox lets nothing connect there: Codex wants network_access = true, Claude Code "+
			"sandbox.network.allowUnixSockets", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; the socket is for other users, see uids in bailiff.yaml", err)
	}
	return err
}

// readDecision reads an answer to /v1/decide.
func readDecision(status string, answer []byte) (decided, error) {
	if status != "200" {
		return decided{}, problem(status, answer)
	}
	var read struct {
		DecisionID string            `json:"decision_id"`
		Decision   *bailiff.Decision `json:"decision"`
		Projects   []string          `json:"projects"`
		Unread     []string          `json:"unread_files"`
		Connects   bool              `json:"connects"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return decided{}, fmt.Errorf("it is no decision: %w", err)
	}
	if read.DecisionID == "" || read.Decision == nil || !isWhole(*read.Decision) {
		return decided{}, errors.New("it is no decision of bailiff")
	}
	return decided{*read.Decision, read.Projects, read.Unread, read.Connects}, nil
}

// isWhole says whether a decision has what its outcome needs, and nothing that
// contradicts it.
func isWhole(d bailiff.Decision) bool {
	switch d.Outcome {
	case bailiff.Deny:
		return len(d.Denials) > 0
	case bailiff.Ask:
		return len(d.Denials) == 0 && d.Revision != "" && d.Backend.Name != "" && d.Approval != nil
	case bailiff.Allow:
		return len(d.Denials) == 0 && d.Revision != "" && d.Backend.Name != "" && d.Approval == nil
	}
	return false
}

// problem is why the sidecar did not take the request.
func problem(status string, answer []byte) error {
	var p struct{ Message string } // which says all faults
	if err := json.Unmarshal(answer, &p); err != nil || p.Message == "" {
		return fmt.Errorf("status %q, which is no answer of bailiff", status)
	}
	return errors.New(strings.TrimSuffix(p.Message, "."))
}
