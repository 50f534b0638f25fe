package document

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestProgramsHaveInterpretersOfTheirOwnWhereNothingIsIsolated(t *testing.T) {
	t.Parallel()
	host, sandbox := bailiff.BackendState{Ready: true}, bailiff.BackendState{Ready: true, Isolated: true}
	both := map[string]bailiff.BackendState{"local": host, "docker": sandbox}
	for name, c := range map[string]struct {
		wish     string
		backends map[string]bailiff.BackendState
		own      bool
	}{
		"a host that is asked for":         {"local", both, true},
		"a sandbox that is asked for":      {"docker", both, false},
		"either":                           {"", both, false},
		"a wish that nobody has":           {"modal", both, false},
		"hosts alone":                      {"", map[string]bailiff.BackendState{"local": host}, true},
		"no backend, so nothing is known":  {"", nil, false},
		"a host that is not there, either": {"local", map[string]bailiff.BackendState{"docker": sandbox}, false},
	} {
		got := Read(bailiff.Request{Tool: bailiff.ExecuteCode, Backend: c.wish, Args: bailiff.Args{Code: "f(x)"}},
			bailiff.Circumstances{Backends: c.backends}, "/home/ana")
		if got.Code.Complete != c.own {
			t.Errorf("%s: complete is %v, want %v", name, got.Code.Complete, c.own)
		}
	}
}
