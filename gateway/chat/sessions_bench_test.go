package chat

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

const (
	// sessionsAtOnce sessions are at work at once, each with so many commands.
	sessionsAtOnce = 500
	commands       = 6
	// faulty is one try of posting in so many that fails.
	faulty = 20
)

// barrier is a sidecar in which the first command of each session runs until all of
// them do, so that all sessions are at work at once.
func barrier(sessions int) (c *fakeSidecar, all <-chan struct{}, release func()) {
	together, released := make(chan struct{}), make(chan struct{})
	var here atomic.Int32
	c = &fakeSidecar{}
	c.execute = func(ctx context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		if strings.HasSuffix(req.Args.Command, " 0") {
			if int(here.Add(1)) == sessions {
				close(together)
			}
			select {
			case <-released:
			case <-ctx.Done():
			}
		}
		return printed(req, req.Args.Command+"\n")
	}
	return c, together, sync.OnceFunc(func() { close(released) })
}

// load is what a process holds, above what it held before: the heap is what is live on
// it, and the goroutines' stacks.
type load struct{ goroutines, heap int }

func loaded() load {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return load{runtime.NumGoroutine(), int(m.HeapAlloc + m.StackInuse)} //nolint:gosec // of a test
}

func (l load) above(before load) load {
	return load{l.goroutines - before.goroutines, l.heap - before.heap}
}

// conversation is one session's: half of them are direct messages, half begin by a
// mention in a channel and go on in the thread that is made of it.
func conversation(i int) (kind string, first, then Place, begins Ref) {
	if i%2 == 0 {
		at := Place{Chat: fmt.Sprint("D", i)}
		return "dm", at, at, Ref{at, "m0"}
	}
	first = Place{Chat: "C1"}
	begins = Ref{first, fmt.Sprint("m", i)}
	return "channel", first, Place{"C1", "tm" + fmt.Sprint(i)}, begins
}

// converse has a person say the commands of a conversation, each delivered twice.
func (k *sessionsTest) converse(i int) {
	kind, _, then, begins := conversation(i)
	by := Person{ID: fmt.Sprint("U", i)}
	k.twice(Said{Ref: begins, Kind: kind, By: by, Text: fmt.Sprint(i, " ", 0), Mentioned: kind == "channel"})
	if kind == "channel" {
		kind = "thread"
	}
	for n := 1; n < commands; n++ {
		k.twice(Said{Ref: Ref{then, fmt.Sprint("n", i, ".", n)}, Kind: kind, By: by, Text: fmt.Sprint(i, " ", n), Mentioned: true})
	}
}

// twice delivers a message twice at once.
func (k *sessionsTest) twice(said Said) {
	var delivering sync.WaitGroup
	for range 2 {
		delivering.Go(func() { k.Said(context.Background(), said) })
	}
	delivering.Wait()
}

// fill has all of them talk, and returns what is held while all are at work.
func (k *sessionsTest) fill(sessions int, all <-chan struct{}) load {
	before := loaded()
	var talking sync.WaitGroup
	for i := range sessions {
		talking.Go(func() { k.converse(i) })
	}
	talking.Wait()
	<-all
	return loaded().above(before)
}

func TestOfFiveHundredSessionsAtOnceNothingIsLostOrDoubled(t *testing.T) { // alone, since it counts goroutines
	c, all, release := barrier(sessionsAtOnce)
	k := newSessionsTest(t, c, func(c *SessionsConfig) { c.AllowedUsers = only("*") })
	k.surface.fails = func(Place) error {
		if rand.N(faulty) == 0 { //nolint:gosec // of a test
			return []error{&Busy{time.Millisecond}, context.DeadlineExceeded}[rand.N(2)] //nolint:gosec // as above
		}
		return nil
	}
	held := k.fill(sessionsAtOnce, all)
	release()
	k.settles()
	t.Logf("%d sessions with %d commands each: %d goroutines, %d KiB of live heap and stacks", sessionsAtOnce, commands, held.goroutines,
		held.heap>>10)
	if most := 2*sessionsAtOnce + 64; held.goroutines > most {
		t.Errorf("%d goroutines were at work, want at most %d", held.goroutines, most)
	}
	if most := sessionsAtOnce * 40 << 10; held.heap > most {
		t.Errorf("%d bytes were held, want at most %d", held.heap, most)
	}
	ran := map[string][]string{}
	for _, req := range c.requests() {
		ran[req.Session.ID] = append(ran[req.Session.ID], req.Args.Command)
	}
	for i := range sessionsAtOnce {
		k.wantConversation(t, i, ran)
	}
	if got := k.surface.total(); got != sessionsAtOnce*commands || len(ran) != sessionsAtOnce {
		t.Errorf("%d messages are shown of %d sessions, want %d of %d", got, len(ran), sessionsAtOnce*commands, sessionsAtOnce)
	}
}

// wantConversation checks that each command of one ran once and was answered once, the
// first one first: what is said before a thread is made may come in another order.
func (k *sessionsTest) wantConversation(t *testing.T, i int, ran map[string][]string) {
	t.Helper()
	kind, _, then, _ := conversation(i)
	id := "slack:dm:" + then.Chat
	if kind == "channel" {
		id = "slack:thread:C1:" + then.Thread
	}
	var want []string
	for n := range commands {
		want = append(want, fmt.Sprint(i, " ", n))
	}
	got, shown := slices.Clone(ran[id]), k.surface.at(then)
	if kind == "dm" && !slices.Equal(got, want) {
		t.Errorf("of %s ran %q, want %q", id, got, want)
	}
	slices.Sort(got)
	var answers []string
	for _, text := range shown {
		text = strings.TrimSuffix(text, "```")
		answers = append(answers, text[strings.LastIndexByte(text, '`')+1:])
	}
	slices.Sort(answers)
	if !slices.Equal(got, want) || !slices.Equal(answers, want) {
		t.Errorf("of %s ran %q and was shown %q, want %q", id, got, answers, want)
	}
}

// BenchmarkSessions has 500 sessions give their commands at once, against the same
// commands sent to the sidecar's front end by as many goroutines. It reports what is held
// while all are at work, and what a command costs, with the ratios.
func BenchmarkSessions(b *testing.B) {
	var chats, plain sum
	for b.Loop() {
		chats.add(throughChats(b))
		plain.add(withoutChats(b))
	}
	for name, side := range map[string]*sum{"chat": &chats, "plain": &plain} {
		b.ReportMetric(float64(side.took.Microseconds())/float64(b.N*sessionsAtOnce*commands), name+"-µs/command")
		b.ReportMetric(float64(side.heap)/float64(b.N*sessionsAtOnce), name+"-B/session")
		b.ReportMetric(float64(side.goroutines)/float64(b.N*sessionsAtOnce), name+"-goroutines/session")
	}
	b.ReportMetric(float64(chats.took)/float64(plain.took), "time-ratio")
	b.ReportMetric(float64(chats.heap)/float64(plain.heap), "heap-ratio")
	b.ReportMetric(0, "ns/op")
}

// sum is what several rounds held and took.
type sum struct {
	load
	took time.Duration
}

func (s *sum) add(l load, took time.Duration) {
	s.goroutines += l.goroutines
	s.heap += l.heap
	s.took += took
}

func throughChats(b *testing.B) (load, time.Duration) {
	c, all, release := barrier(sessionsAtOnce)
	k := newSessionsTest(b, c, func(c *SessionsConfig) { c.AllowedUsers = only("*") })
	begun := time.Now()
	held := k.fill(sessionsAtOnce, all)
	release()
	k.settles()
	took := time.Since(begun)
	if got := len(c.requests()); got != sessionsAtOnce*commands {
		b.Fatalf("%d commands ran", got)
	}
	k.Close()
	return held, took
}

func withoutChats(b *testing.B) (held load, took time.Duration) {
	c, all, release := barrier(sessionsAtOnce)
	agent, err := gateway.NewAgent(gateway.AgentConfig{Name: "chat", Platforms: []string{"slack"}, Enforcer: c, Tools: c})
	if err != nil {
		b.Fatal(err)
	}
	before, begun := loaded(), time.Now()
	var asking sync.WaitGroup
	for i := range sessionsAtOnce {
		asking.Go(func() {
			for n := range commands {
				req := bailiff.Request{ID: fmt.Sprint(i, n), Tool: bailiff.Terminal, Args: bailiff.Args{Command: fmt.Sprint(i, " ", n)},
					Session: bailiff.Session{ID: fmt.Sprint("s", i), Platform: "slack", UserID: "U1"}}
				if _, err := agent.Execute(context.Background(), req, gateway.News{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	<-all
	held = loaded().above(before)
	release()
	asking.Wait()
	return held, time.Since(begun)
}
