package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func codexCall(tool, input string) call {
	c := call{session: "s1", cwd: "/p", tool: tool}
	if err := json.Unmarshal([]byte(input), &c.input); err != nil {
		panic(err)
	}
	return c
}

func TestCodexIsNeverAskedToAsk(t *testing.T) {
	c := codexCall("Bash", `{"command": "git push"}`)
	r := codex{}.answer(c, verdict{outcome: ask, reason: "It pushes", command: "bailiff exec -- 'git push'"})
	if r.status != refused || !strings.Contains(r.stdout, `"deny"`) ||
		!strings.HasSuffix(r.stderr, "run exactly this, which waits for them: bailiff exec -- 'git push'") {
		t.Errorf("it answers %+v", r)
	}
}

func TestWhateverCodexMayNotRunIsSaidInBothWays(t *testing.T) {
	for _, v := range []verdict{{}, {reason: "No."}, {outcome: ask, reason: "Perhaps."}, {outcome: 99, reason: "?"}} {
		r := codex{}.answer(codexCall("Bash", `{"command": "ls"}`), v)
		if r.status != refused || !strings.Contains(r.stdout, `"permissionDecision":"deny"`) || r.stderr == "" ||
			!strings.Contains(r.stdout, v.reason) {
			t.Errorf("to %+v it answers %+v", v, r)
		}
	}
}

func TestACommandOfCodexOnThisMachineReadsNothing(t *testing.T) {
	r := codex{}.answer(codexCall("Bash", `{"command": "bash"}`), verdict{outcome: allow})
	if want := `"updatedInput":{"command":"exec \u003c/dev/null\nbash"}`; !strings.Contains(r.stdout, want) || r.status != 0 {
		t.Errorf("it answers %+v", r)
	}
}

func TestAPatchWithinACommandOfCodexDoesNotRunOnThisMachine(t *testing.T) {
	c := codexCall("Bash", `{"command": "cd x && apply_patch <<EOF\n*** Begin Patch"}`)
	if r := (codex{}).answer(c, verdict{outcome: allow}); r.status != refused || !strings.Contains(r.stderr, "use the tool apply_patch") {
		t.Errorf("on this machine it answers %+v", r)
	}
	if r := (codex{}).answer(c, verdict{outcome: allow, command: "bailiff exec -- …"}); r.status != 0 {
		t.Errorf("in the sandbox it answers %+v", r)
	}
}
