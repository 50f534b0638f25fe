package app

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// law is what the policies of these tests say to every request.
type law struct {
	backend    string
	idle, most int
	persistent bool
	closed     bool
}

// in saves it as the only policy of a folder.
func (l law) in(t *testing.T, folder string) {
	t.Helper()
	outcome, denials := "allow", "[]"
	if l.closed {
		outcome, denials = "deny", `[{"rule": "house.closed", "message": "The house is closed."}]`
	}
	save(t, filepath.Join(folder, "house.rego"), fmt.Sprintf(`package bailiff

decision := {
	"outcome": %q, "denials": %s,
	"backend": {
		"name": %q, "scope": "session", "idle_seconds": %d, "max_seconds": %d, "persistent": %t,
		"network": "none", "image": "", "egress": [], "cpus": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0,
		"read_only": true, "mounts": [],
	},
	"env": {"forward": [], "withheld": [], "set": {}},
	"limits": {"timeout_seconds": 60, "output_bytes": 1000},
}
`, outcome, denials, l.backend, l.idle, l.most, l.persistent))
}

// startCourt starts a sidecar under a law; the same state folder may have seen one.
func startCourt(t *testing.T, state string, l law, policies string) *running {
	t.Helper()
	l.in(t, policies)
	s, err := tryStart(t, state, isolated[l.backend], keepNoneReady, "policies: {require_tests: false, paths: ["+policies+"]}")
	must(t, err)
	return s
}

func TestAReloadStopsWhatItNoLongerAllowsAndItsFilesAreFoundAgain(t *testing.T) {
	t.Parallel()
	for backend := range isolated {
		t.Run(backend, func(t *testing.T) {
			folder := openDir(t)
			open := law{backend: backend, idle: 600}
			s := startCourt(t, openDir(t), open, folder)
			running, answered := make(chan struct{}), make(chan api.Answer, 1)
			go func() {
				first := true
				a, err := s.client(t).Execute(t.Context(), inChat("s1", "echo kept > here; echo running; sleep 50"),
					client.News{Output: func([]byte) {
						if first {
							first = false
							close(running)
						}
					}})
				if err != nil {
					t.Error(err)
				}
				answered <- a
			}()
			<-running
			law{backend: backend, idle: 600, closed: true}.in(t, folder)
			a := <-answered
			if a.Status != bailiff.Interrupted || !strings.HasPrefix(a.Message,
				"The policies that are in force now no longer allow the sandbox") {
				t.Errorf("what ran was answered %+v", a)
			}
			awaittest.Until(t, "its sandbox's end", func() bool {
				return strings.Contains(get(t, s, "/metrics"), `bailiff_sandboxes_reaped_total{backend="`+backend+`",reason="policy"} 1`)
			})
			open.in(t, folder)
			var next api.Answer
			awaittest.Until(t, "the policies", func() bool {
				next = ask(t, s.client(t), inChat("s1", "cat here"))
				return next.Status != bailiff.Refused
			})
			if next.Output != "kept\n" || next.SandboxID == a.SandboxID {
				t.Errorf("when it is allowed again it is answered %+v", next)
			}
		})
	}
}

func TestWhatRunsEndsWithTheGreatestAgeOfItsSandbox(t *testing.T) {
	t.Parallel()
	for backend := range isolated {
		t.Run(backend, func(t *testing.T) {
			s := startCourt(t, openDir(t), law{backend: backend, idle: 600, most: 6}, openDir(t))
			a := ask(t, s.client(t), inChat("s1", "sleep 50"))
			if a.Status != bailiff.Interrupted || !strings.Contains(a.Message, "greatest age") {
				t.Errorf("answer is %+v", a)
			}
			if next := ask(t, s.client(t), inChat("s1", "true")); next.Status != bailiff.Completed || next.SandboxID == a.SandboxID {
				t.Errorf("the next answer is %+v", next)
			}
		})
	}
}

func TestPersistentFilesOutliveSandboxAndSidecarButNotTheirSession(t *testing.T) {
	t.Parallel()
	for backend := range isolated {
		t.Run(backend, func(t *testing.T) {
			state, policies := openDir(t), openDir(t)
			l := law{backend: backend, idle: 0, persistent: true}
			s := startCourt(t, state, l, policies)
			made := ask(t, s.client(t), inChat("s1", "echo kept > here"))
			awaittest.Until(t, "its idle sandbox's end", func() bool { return len(s.enforcer.Sandboxes()) == 0 })
			if _, err := s.enforcer.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			if a := ask(t, s.client(t), inChat("s1", "cat here")); a.Output != "kept\n" || a.SandboxID == made.SandboxID {
				t.Errorf("in the next sandbox the answer is %+v", a)
			}
			s.stop()
			s = startCourt(t, state, l, policies)
			if a := ask(t, s.client(t), inChat("s1", "cat here")); a.Output != "kept\n" {
				t.Errorf("after a restart the answer is %+v", a)
			}
			if _, err := s.enforcer.EndSession(t.Context(), "test", "s1"); err != nil {
				t.Error(err)
			}
			if a := ask(t, s.client(t), inChat("s1", "ls -A")); a.Status != bailiff.Completed || a.Output != "" {
				t.Errorf("after the end of the session the answer is %+v", a)
			}
		})
	}
}

func TestAContainerThatIsGoneIsReplacedWithoutASeenFailure(t *testing.T) {
	t.Parallel()
	s := startCourt(t, openDir(t), law{backend: "docker", idle: 600}, openDir(t))
	before := ask(t, s.client(t), inChat("s1", "echo kept > here; echo lost > /tmp/there"))
	if out, err := exec.Command("docker", "rm", "--force", before.SandboxID).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := ask(t, s.client(t), inChat("s1", "cat here; ls /tmp"))
	if a.Status != bailiff.Completed || a.Output != "kept\n" || a.SandboxID == before.SandboxID ||
		!strings.Contains(a.Message, "/workspace are left") {
		t.Errorf("answer is %+v", a)
	}
	if a := ask(t, s.client(t), inChat("s1", "true")); a.Message != "" {
		t.Errorf("the next answer says %q", a.Message)
	}
}
