package pdp

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestABackendMayBeCalledByItsOtherNameAndIsDecidedByItsOwn(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": `package bailiff

decision := {
	"outcome": "allow",
	"denials": [],
	"backend": {"name": name, "scope": "session", "network": "none"},
	"limits": {"timeout_seconds": 180, "output_bytes": 50000},
}

name := "singularity" if {
	input.backend.requested == "apptainer"
	input.backend.available.singularity == input.backend.available.apptainer
	not input.backend.available.docker.ready
}
`})
	at := bailiff.Circumstances{Backends: map[string]bailiff.BackendState{"apptainer": {Isolated: true, Ready: true},
		"docker": {Isolated: true}}}
	for _, called := range []string{"apptainer", "singularity"} {
		req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"}, Backend: called,
			Session: bailiff.Session{ID: "s", Platform: "telegram"}}
		if d := p.Decide(t.Context(), req, at).Decision; d.Outcome != bailiff.Allow || d.Backend.Name != "apptainer" {
			t.Errorf("called %s: decided %+v", called, d)
		}
	}
	_, there, err := p.Query(t.Context(), bailiff.Request{}, bailiff.Circumstances{Backends: map[string]bailiff.BackendState{"docker": {}}},
		"bailiff/decision/backend/name")
	if err != nil || there {
		t.Errorf("where apptainer is not configured it is there by another name: %v", err)
	}
}
