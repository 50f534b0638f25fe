package aisdk_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

func TestTheToolOfTheExampleTellsWhatWasWithheldAndCut(t *testing.T) {
	k := serve(t)
	without := k.agent("example", "telegram", "terminal", command("true"))
	without.Env = []string{"OF_NO_TABLE"}
	much := k.agent("example", "telegram", "terminal", command("seq 30000 | tee all.txt"))
	ends := run(t, []*agent{without, much})
	if said, _ := json.Marshal(ends[0].Results); !strings.Contains(string(said), `"withheld":["OF_NO_TABLE (env.`) {
		t.Errorf("of a variable it is told %s, %+v", said, ends[0])
	}
	if said, _ := json.Marshal(ends[1].Results); !strings.Contains(string(said), `"truncated":true`) || len(said) > 60_000 {
		t.Errorf("of much output it is told %d bytes: %.200s, %+v", len(said), said, ends[1])
	}
	page := k.agent("example", "telegram", "terminal", command("sed -n 15000p all.txt"))
	if said, _ := json.Marshal(run(t, []*agent{page})[0].Results); !strings.Contains(string(said), `"output":"15000\n"`) {
		t.Errorf("of a line that was left out it is told %s", said)
	}
}

func TestACommandEndsWithTheCallOfTheExample(t *testing.T) {
	s := apptest.Serve(t)
	url, token := s.TCP(t)
	k := kit{t, url, token}
	t.Run("that its user gives up", func(t *testing.T) {
		given := k.agent("example", "telegram", "terminal", command("sleep 600"))
		given.Cancelled = filepath.Join(t.TempDir(), "cancelled")
		ended := make(chan []end, 1)
		go func() { ended <- run(t, []*agent{given}) }()
		s.Busy(t, 1)
		must(t, os.WriteFile(given.Cancelled, nil, 0o600))
		s.Busy(t, 0)
		if e := (<-ended)[0]; len(e.Results) > 0 {
			t.Errorf("it ended with %+v", e)
		}
	})
	t.Run("that is killed", func(t *testing.T) {
		agent := exec.Command("node", "--import", "./model.mjs", "agent.mjs", "sleep 600")
		agent.Dir = place(t)
		agent.Env = append(os.Environ(), "BAILIFF_URL="+url, "BAILIFF_TOKEN="+token, "MODEL=parrot")
		must(t, agent.Start())
		s.Busy(t, 1)
		_ = agent.Process.Kill()
		_ = agent.Wait()
		s.Busy(t, 0)
	})
}

func TestAWrongTokenIsNoVerdict(t *testing.T) {
	k := serve(t)
	right := k.token
	k.token = "another"
	wrong := []*agent{k.agent("example", "cli", "bash", command("ls")), k.agent("package", "cli", "bash", command("ls")),
		k.agent("bare", "cli", "bash", command("ls"))}
	for i, e := range run(t, wrong) {
		if wrong[i].ran() || len(e.Results) > 0 || strings.Contains(strings.Join(append(e.Denied, e.Failed), ""), k.token) {
			t.Errorf("%s: ran is %v, %+v", wrong[i].Way, wrong[i].ran(), e)
		}
	}
	folder := place(t)
	for name, c := range map[string]struct{ url, token, want string }{
		"with the token":       {k.url, right, "allow"},
		"with another":         {k.url, k.token, "none: "},
		"where no sidecar is":  {"http://127.0.0.1:1", right, "none: "},
		"where another server": {"http://" + strings.TrimPrefix(apptest.BrokenSidecars()[1].Open(t, "tcp"), "tcp://"), right, "none: "},
	} {
		if said := string(node(t, folder, "opa.mjs", c.url, c.token)); !strings.HasPrefix(said, c.want) {
			t.Errorf("OPA's client %s says %q, want %q", name, said, c.want)
		}
	}
}
