package app

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const (
	// chatSessions give so many commands each, all at once, each in a sandbox of its own.
	chatSessions   = 500
	commandsOfEach = 3
)

// BenchmarkChatSessions has 500 people give commands by direct messages to a bot at
// Telegram at once, each in a sandbox of bubblewrap's, against the same commands brought
// to the enforcer by as many goroutines: every one must be answered, once and in order.
// It reports how long all of it takes, and the most that the process held after a garbage
// collection, with the ratios; by chat the process is the stand-in for Telegram too.
func BenchmarkChatSessions(b *testing.B) {
	sides := map[string]*peak{"plain": {}, "chat": {}}
	for b.Loop() {
		bringPlainly(b, sides["plain"])
		bringByChat(b, sides["chat"])
	}
	for name, side := range sides {
		b.ReportMetric(side.took.Seconds()*1000/float64(b.N*chatSessions*commandsOfEach), name+"-ms/command")
		b.ReportMetric(float64(side.memory)/(1<<20), name+"-MiB")
		b.ReportMetric(float64(side.goroutines), name+"-goroutines")
	}
	b.ReportMetric(float64(sides["chat"].took)/float64(sides["plain"].took), "time-ratio")
	b.ReportMetric(float64(sides["chat"].memory)/float64(sides["plain"].memory), "memory-ratio")
	b.ReportMetric(0, "ns/op") // a round's, which says nothing
}

// crowded is a sidecar with room for all of them.
func crowded(b *testing.B, telegram *telegramtest.Server) *running {
	folder := openDir(b)
	save(b, filepath.Join(folder, "telegram.token"), telegram.Token)
	s, err := tryServe(b, folder, fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", uids: [4242], platforms: [discord]}]}
operator: {listen: "unix://%[1]s/o.sock"}
telegram: {url: %[2]q, token: {file: telegram.token}, allowed_users: ["*"]}
metrics: {listen: "127.0.0.1:0"}
policies: {eval_timeout: 10s}
runner: {path: %[3]s}
backends: {bubblewrap: {}}
limits: {sandboxes: {total: 600, caller: 600, user: 50, backend: 600}}
`, openDir(b), telegram.URL(), backendtest.Runner(b)))
	must(b, err)
	awaittest.Until(b, "the backend is ready", func() bool { return s.bring(b, "42", "true").Status == bailiff.Completed })
	return s
}

// nth is a command that shows which of a person's were before it.
func nth(n int) string { return fmt.Sprintf("echo %d >> f; cat f", n) }

func bringByChat(b *testing.B, p *peak) {
	telegram := telegramtest.New(b)
	s := crowded(b, telegram)
	defer s.stop()
	defer p.watch()()
	for n := range commandsOfEach {
		for i := range chatSessions {
			user := strconv.Itoa(1000 + i)
			telegram.Write(user, user, "", nth(n))
		}
	}
	for i := range chatSessions {
		wantAnswers(b, telegram, strconv.Itoa(1000+i))
	}
}

func bringPlainly(b *testing.B, p *peak) {
	s := crowded(b, telegramtest.New(b))
	defer s.stop()
	defer p.watch()()
	var asking sync.WaitGroup
	for i := range chatSessions {
		asking.Go(func() {
			user, last := strconv.Itoa(1000+i), bailiff.Answer{}
			for n := range commandsOfEach {
				last = s.bring(b, user, nth(n))
			}
			if string(last.Output) != "0\n1\n2\n" {
				b.Errorf("%s is answered %+v", user, last)
			}
		})
	}
	asking.Wait()
}

// bring brings a person's command to the enforcer.
func (r *running) bring(b *testing.B, user, command string) bailiff.Answer {
	return r.enforcer.Execute(b.Context(), bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Caller: "telegram",
		Session: bailiff.Session{ID: user, Platform: "telegram", ChatType: "dm", ChatID: user, UserID: user}}, nil)
}

// wantAnswers waits for a person's answers, which show what all of them wrote so far.
func wantAnswers(b *testing.B, telegram *telegramtest.Server, user string) {
	b.Helper()
	for deadline := time.Now().Add(5 * time.Minute); len(telegram.Messages(user)) < commandsOfEach; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("%s is shown only %+v", user, telegram.Messages(user))
		}
	}
	shown := telegram.Messages(user)
	if len(shown) != commandsOfEach {
		b.Fatalf("%s is shown %d messages: %+v", user, len(shown), shown)
	}
	last := shown[commandsOfEach-1].Text
	if !strings.Contains(last, "0\n1\n2") {
		b.Fatalf("%s is shown %q", user, last)
	}
}

// peak is the most that a process held, and how long it took.
type peak struct {
	memory, goroutines uint64
	took               time.Duration
}

// watch looks again and again, until it is stopped.
func (p *peak) watch() (stop func()) {
	runtime.GC() // of what was before
	begun := time.Now()
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			p.look()
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() {
		p.took += time.Since(begun)
		close(done)
		<-gone
	}
}

func (p *peak) look() {
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/sched/goroutines:goroutines"}}
	metrics.Read(held)
	p.memory = max(p.memory, held[0].Value.Uint64()+held[1].Value.Uint64())
	p.goroutines = max(p.goroutines, held[2].Value.Uint64())
}
