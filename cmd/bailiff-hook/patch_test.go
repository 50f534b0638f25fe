package main

import (
	"encoding/json"
	"testing"
)

// patched asks with a patch in the words of each client that applies some.
func patched(t *testing.T, d *fakeSidecar, patch string) map[string]told {
	t.Helper()
	text, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]told{
		"codex":  d.ask("codex", "apply_patch", `{"command": `+string(text)+`}`),
		"hermes": d.ask("hermes", "patch", `{"mode": "patch", "patch": `+string(text)+`}`),
	}
}

func TestWhatOnlySomeClientTakesForAMarkerRefusesThePatch(t *testing.T) {
	d := openListener(t, allowing("local"))
	for _, line := range []string{
		"***Add File: /root/.ssh/authorized_keys", "***Add File:/no/x", "***\tAdd File: /no/x", "***  Add File: /no/x",
		"***\u00a0Add File: /no/x",
		"*** Add  File: /no/x", "*** Add\tFile: /no/x", "*** Add File:/no/x", "*** Add File:\t/no/x", "***Delete File:/etc/passwd",
		"*** delete file: /no/x",
		"***Move File:/no/a->/no/b", "*** Move File: /no/a -> /no/b", "*** Move File:/no/a->/no/b", "***Move to:/no/b", "*** Move to:/no/b",
		"***End Patch", "***Begin Patch", "*** End  Patch", "\x1c***Add File:/no/x", "\t***Add File:/no/x", " ***Add File: /no/x", "***",
		"***Add File:",
		"*** Add File: ", "*** Environment ID: x", "*** Add File: /no/../etc/x",
	} {
		for client, got := range patched(t, d, "*** Begin Patch\n*** Add File: /no/a\n+k\n"+line+"\n+k\n*** End Patch") {
			refuses(t, client+": "+line, got, "reading the input")
		}
	}
}

func TestWhatIsContentOfAPatchIsNoMarker(t *testing.T) {
	d := openListener(t, allowing("local"))
	for client, got := range patched(t, d, "*** Begin Patch\n*** Update File: /no/a\n@@\n+***Delete File:/no/x\n-*** Add File: /no/y\n "+
		"***\n+ *** z\n*** End of File\n*** End Patch\n") {
		if got.status != 0 || d.asked.Args.Command != "cat -- /no/a && tee -- /no/a" {
			t.Errorf("%s is told %+v, judged as %q", client, got, d.asked.Args.Command)
		}
	}
	patched(t, d, "*** Begin Patch\r\n *** Delete File: /no/a \r\n*** End Patch")
	if want := "rm -- /no/a"; d.asked.Args.Command != want {
		t.Errorf("an indented marker is judged as %q, want %q", d.asked.Args.Command, want)
	}
}
