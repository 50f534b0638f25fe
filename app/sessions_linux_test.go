package app

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const (
	crowdRounds = 60
	// crowdPace is the time between two commands of the crowd.
	crowdPace = time.Second / 20
)

func TestManySessionsWorkAndLeaveNothing(t *testing.T) {
	for backend, with := range map[string]struct {
		section  string
		sessions int
	}{
		"docker":     {dockerBackend, backendtest.Rounds(16, 200)}, // whose engine takes seconds for each
		"bubblewrap": {"backends: {bubblewrap: {}}", backendtest.Rounds(32, 200)},
	} {
		t.Run(backend, func(t *testing.T) {
			if testing.Short() {
				t.Skip("opens many sandboxes")
			}
			before := footprint(t)
			text := onePerson(t, with.section, "limits: {requests_per_minute: {session: 0, user: 0, caller: 0}}",
				everything(t, backend, ""))
			s := startOffice(t, openDir(t), text)
			crowd := &crowd{t: t, agent: s.agent, sessions: with.sessions, greeted: make(map[int]int),
				turns: make([]sync.Mutex, with.sessions)}
			crowd.open()
			if n := len(s.enforcer.Sandboxes()); n != with.sessions {
				t.Errorf("%d sandboxes stand, want one for each of %d sessions", n, with.sessions)
			}
			crowd.work()
			crowd.leave()
			if left := s.enforcer.Sandboxes(); len(left) != 0 {
				t.Errorf("%d sandboxes stand after their sessions", len(left))
			}
			s.stop()
			wantNothingOf(t, s.folder, text)
			before.wantKept(t)
		})
	}
}

// crowd is many sessions, each of its own user.
type crowd struct {
	t        *testing.T
	agent    *client.Client
	sessions int
	turns    []sync.Mutex // of each session, whose commands come one after another however slow the machine is

	mu      sync.Mutex
	greeted map[int]int // how often each session's file was written to
}

// open lets each session send its first command, as many at once as there are processors.
func (c *crowd) open() {
	var senders sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		senders.Go(func() {
			for session := range next {
				c.send(session)
			}
		})
	}
	for session := range c.sessions {
		next <- session
	}
	close(next)
	senders.Wait()
}

// work sends commands at an even pace, whoever has been answered.
func (c *crowd) work() {
	var senders sync.WaitGroup
	pace := time.NewTicker(crowdPace)
	defer pace.Stop()
	for round := range crowdRounds {
		<-pace.C
		senders.Go(func() { c.send(round * 7 % c.sessions) })
	}
	senders.Wait()
}

// send adds a line to a file of the session and wants all of its lines back.
func (c *crowd) send(session int) {
	c.turns[session].Lock()
	defer c.turns[session].Unlock()
	req := inChat(fmt.Sprintf("crowd-%d", session), fmt.Sprintf("echo %d >> mine && cat mine", session))
	req.Session.UserID = fmt.Sprint(session)
	a, err := c.agent.Execute(context.Background(), req, client.News{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.greeted[session]++
	want := strings.Repeat(fmt.Sprintln(session), c.greeted[session])
	if err != nil || a.Status != bailiff.Completed || a.Output != want {
		c.t.Errorf("session %d: %v, %s %q %s, want %q", session, err, a.Status, a.Output, a.Message, want)
	}
}

// leave ends every session.
func (c *crowd) leave() {
	var ends sync.WaitGroup
	for session := range c.sessions {
		ends.Go(func() {
			if ended, err := c.agent.EndSession(context.Background(), fmt.Sprintf("crowd-%d", session)); err != nil || ended.Removed != 1 {
				c.t.Errorf("ending session %d: %+v, %v", session, ended, err)
			}
		})
	}
	ends.Wait()
}

// use is what this process holds.
type use struct{ goroutines, descriptors int }

func footprint(t *testing.T) use {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return use{runtime.NumGoroutine(), len(open)}
}

// leeway is for what a first start leaves for good, such as idle connections of
// this test's own clients.
const leeway = 20

// wantKept waits until what was taken is given back.
func (u use) wantKept(t *testing.T) {
	t.Helper()
	awaittest.Until(t, fmt.Sprintf("what was taken beyond %+v to be given back", u), func() bool {
		now := footprint(t)
		return now.goroutines <= u.goroutines+leeway && now.descriptors <= u.descriptors+leeway
	})
}
