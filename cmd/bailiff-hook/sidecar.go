package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff"
)

// decide asks the sidecar what it would decide, once. Whatever is not a decision
// whole in itself is an error.
func (h hook) decide(ctx context.Context, req bailiff.Request) (bailiff.Decision, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return bailiff.Decision{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	status, answer, err := h.post(ctx, "/v1/decide", body)
	if err != nil {
		return bailiff.Decision{}, fmt.Errorf("asking the sidecar at %s: %w", h.listen, err)
	}
	d, err := readDecision(status, answer)
	if err != nil {
		return bailiff.Decision{}, fmt.Errorf("reading the answer of the sidecar at %s: %w", h.listen, err)
	}
	return d, nil
}

// most bounds an answer, with its head.
const most = 1 << 20

func (h hook) post(ctx context.Context, path string, body []byte) (status int, answer []byte, err error) {
	token, err := h.token()
	if err != nil {
		return 0, nil, err
	}
	network, address, _ := strings.Cut(h.listen, "://")
	if (network != "unix" && network != "tcp") || address == "" {
		return 0, nil, errors.New("want unix:///path or tcp://host:port (--listen)")
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return 0, nil, hinted(err)
	}
	defer func() { _ = conn.Close() }()
	if until, bounded := ctx.Deadline(); bounded {
		_ = conn.SetDeadline(until)
	}
	r, err := http.NewRequest(http.MethodPost, "http://bailiff"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Close = true
	if network == "tcp" {
		r.Host = address
	}
	r.Header.Set("Content-Type", "application/json")
	if token := token.Reveal(); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return exchange(conn, r)
}

// exchange asks one question by a connection. It is done by hand, and not by an HTTP
// client, since that is ready for more than one and takes as long to start as all of
// this program.
func exchange(conn net.Conn, r *http.Request) (status int, answer []byte, err error) {
	if err := r.Write(conn); err != nil {
		return 0, nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, most)), r)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func (h hook) token() (bailiff.Secret, error) {
	if h.tokenFile == "" {
		return bailiff.Secret{}, nil
	}
	text, err := os.ReadFile(h.tokenFile)
	if err != nil {
		return bailiff.Secret{}, fmt.Errorf("reading the token: %w", err)
	}
	return bailiff.NewSecret(strings.TrimSpace(string(text))), nil
}

// hinted says what to do about a sidecar that is not there.
func hinted(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no sidecar answers (%w); start one with \"bailiff serve\"", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; the socket is for other users, see uids in bailiff.yaml", err)
	}
	return err
}

// readDecision reads an answer to /v1/decide.
func readDecision(status int, answer []byte) (bailiff.Decision, error) {
	if status != http.StatusOK {
		return bailiff.Decision{}, problem(status, answer)
	}
	var decided struct {
		DecisionID string            `json:"decision_id"`
		Decision   *bailiff.Decision `json:"decision"`
	}
	if err := json.Unmarshal(answer, &decided); err != nil {
		return bailiff.Decision{}, fmt.Errorf("it is no decision: %w", err)
	}
	if decided.DecisionID == "" || decided.Decision == nil || !isWhole(*decided.Decision) {
		return bailiff.Decision{}, errors.New("it is no decision of bailiff")
	}
	return *decided.Decision, nil
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
func problem(status int, answer []byte) error {
	var p struct {
		Code, Message string
		Errors        []struct{ At, Message string }
	}
	if err := json.Unmarshal(answer, &p); err != nil || p.Message == "" {
		return fmt.Errorf("status %d, which is no answer of bailiff", status)
	}
	text := strings.TrimSuffix(p.Message, ".")
	for _, fault := range p.Errors {
		text += "; " + fault.At + " " + fault.Message
	}
	return errors.New(text)
}
