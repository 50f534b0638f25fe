package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// deciding is an enforcer that costs nothing and answers as large as a real one.
type deciding struct{ enforcer }

var benchDecision = bailiff.Decided{ID: "4JZ5X2M7QK3V6TBN2WJ5Y7C3D4", Decision: bailiff.Decision{
	Outcome: bailiff.Allow,
	Obligations: bailiff.Obligations{
		Backend: bailiff.BackendTerms{Name: "docker",
			Image: "debian@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			Scope: "session", IdleSeconds: 3600, Network: "none", CPUs: 1, MemoryMB: 5120, DiskMB: 10240, PIDs: 256, ReadOnly: true},
		Env:    bailiff.EnvTerms{Forward: []string{"GITHUB_TOKEN"}},
		Limits: bailiff.Limits{TimeoutSeconds: 180, OutputBytes: 50000},
	},
	Revision: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
}}

func (*deciding) Decide(context.Context, bailiff.Request) bailiff.Decided { return benchDecision }

const benchRequest = `{"tool": "terminal", "args": {"command": "git push origin main", "workdir": "/workspace", "timeout": 180},
 "session": {"id": "agent:main:telegram:dm:42", "platform": "telegram", "chat_type": "dm", "chat_id": "42", "user_id": "42"},
 "env": ["GITHUB_TOKEN"]}`

// BenchmarkDecideListener is what a decision costs besides being made: a request
// over a Unix socket, read strictly, and its answer.
func BenchmarkDecideListener(b *testing.B) { knock(b, agentHandler(b, agentOf(&deciding{}))) }

// BenchmarkEmptyListener is the share of net/http in that.
func BenchmarkEmptyListener(b *testing.B) {
	knock(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		sendBytes(w, http.StatusOK, jsonType, []byte("{}"))
	}))
}

// knock has eight clients ask a listener for decisions.
func knock(b *testing.B, h http.Handler) {
	d := open(b, ListenerConfig{}, h)
	b.ReportAllocs()
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		c, err := dialListener(b.Context(), d)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		for answers := bufio.NewReader(c); pb.Next(); {
			if err := ask(c, answers); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func ask(to io.Writer, from *bufio.Reader) error {
	if _, err := fmt.Fprintf(to, "POST /v1/decide HTTP/1.1\r\nHost: bailiff\r\nContent-Length: %d\r\n\r\n%s",
		len(benchRequest), benchRequest); err != nil {
		return err
	}
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// BenchmarkParse is the reading of a request alone.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, p := parse([]byte(benchRequest)); p != nil {
			b.Fatal(p)
		}
	}
}

// BenchmarkSend is the writing of a decision alone.
func BenchmarkSend(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		encode(benchDecision.Decision)
	}
}
