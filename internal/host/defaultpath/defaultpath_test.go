package defaultpath

import (
	"os"
	"testing"
)

func TestSocketsLieWhereTheirUserMayPutThem(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Setenv("XDG_RUNTIME_DIR", "/run/user/0")
		if got := Socket(AgentSocket); got != "/run/bailiff/agent.sock" {
			t.Errorf("root's is %s", got)
		}
		return
	}
	t.Setenv("HOME", "/home/ana")
	for run, want := range map[string]string{"/run/user/7": "/run/user/7/bailiff/agent.sock",
		"": "/home/ana/.local/state/bailiff/run/agent.sock"} {
		t.Setenv("XDG_RUNTIME_DIR", run)
		if got := Socket(AgentSocket); got != want {
			t.Errorf("with XDG_RUNTIME_DIR=%q it is %s, want %s", run, got, want)
		}
	}
}
