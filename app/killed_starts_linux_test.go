package app

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// A sandbox is made in many steps, and a sidecar may be killed between any two.
func TestAKillWhileASandboxStartsLeavesNothing(t *testing.T) {
	for backend, rounds := range map[string]int{"bubblewrap": backendtest.Rounds(12, 500), "docker": backendtest.Rounds(4, 100)} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := &killedStarts{backend: backend, folder: openDir(t), text: onePerson(t, isolated[backend], keepNoneReady,
				everything(t, backend, ""))}
			for range rounds {
				s.round(t)
			}
			p := launch(t, s.folder, s.text)
			p.awaitServing(t)
			s.wantNothingLeft(t, p)
			p.stop(t)
			if backend == "docker" {
				wantNothingOf(t, s.folder, s.text)
			}
			t.Logf("%d kills, %d of them before the first answer", rounds, s.early)
		})
	}
}

// killedStarts are sidecars of one state folder, each killed while it makes a sandbox.
type killedStarts struct {
	backend, folder, text string
	// killed are the numbers of the sidecars' processes, early is how many had not answered.
	killed []int
	early  int
}

// round starts the next sidecar, looks at what the one before left, and kills it within the
// first moments of a sandbox.
func (s *killedStarts) round(t *testing.T) {
	t.Helper()
	p := launch(t, s.folder, s.text)
	p.awaitServing(t)
	s.wantNothingLeft(t, p)
	session, answered := fmt.Sprint("s", len(s.killed)), make(chan error, 1)
	go func() {
		_, err := p.agent.Execute(context.Background(), inChat(session, "sleep 60"), client.News{})
		answered <- err
	}()
	time.Sleep(time.Duration(rand.IntN(1+rand.IntN(150_000))) * time.Microsecond) // the kill comes at a random moment
	p.kill()
	if err := <-answered; err != nil {
		s.early++
	}
	s.killed = append(s.killed, p.cmd.Process.Pid)
}

// wantNothingLeft ends the session of the sidecar that was killed last, whose sandbox the next one
// may have taken over, and waits until nothing of it is there.
func (s *killedStarts) wantNothingLeft(t *testing.T, p *process) {
	t.Helper()
	if len(s.killed) == 0 {
		return
	}
	if _, err := p.agent.EndSession(t.Context(), fmt.Sprint("s", len(s.killed)-1)); err != nil {
		t.Fatalf("ending the session: %v", err)
	}
	awaittest.Until(t, "nothing of a killed sidecar is left", func() bool { return len(s.left(t)) == 0 })
}

// left lists processes, control groups, disks, mounts, containers and folders of sidecars that were
// killed.
func (s *killedStarts) left(t *testing.T) (list []string) {
	t.Helper()
	list = s.processes()
	if s.backend == "docker" {
		list = append(list, ownedBy(t, s.folder, s.text, "ps", "--all", "--quiet")...)
	}
	for _, pattern := range []string{"workspaces", "disks"} {
		found, err := filepath.Glob(filepath.Join(s.folder, "state", "*", pattern, "*"))
		must(t, err)
		list = append(list, found...)
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, fmt.Sprintf("-%d-", s.killed[len(s.killed)-1])) {
			list = append(list, path)
		}
		return nil // other tests remove folders meanwhile
	})
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	if strings.Contains(string(mounts), s.folder) {
		list = append(list, "a mount below "+s.folder)
	}
	return list
}

// processes are those that have a path of the state folder among their words or mounts, or that a
// killed sidecar marked as its own.
func (s *killedStarts) processes() (list []string) {
	state := filepath.Join(s.folder, "state")
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range all {
		words, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		mounts, _ := os.ReadFile(filepath.Join(process, "mountinfo"))
		found := strings.Contains(string(words), state) || strings.Contains(string(mounts), state)
		for _, pid := range s.killed {
			mark, rest, _ := strings.Cut(string(words), fmt.Sprintf("-%d-", pid))
			found = found || strings.HasPrefix(mark, "bailiff-") && rest != "" && !strings.Contains(mark, "\x00")
		}
		if found {
			list = append(list, process+": "+strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return list
}
