package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	dialect "github.com/bailiff-dev/bailiff/internal/agents/codex/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

var codex = dialect.Dialect{Table: dialect.Table}

func callOf(tool, input string) hook.Call {
	c := hook.Call{Session: "s1", Cwd: "/p", Tool: tool}
	if err := json.Unmarshal([]byte(input), &c.Input); err != nil {
		panic(err)
	}
	return c
}

func TestCodexIsNeverAskedToAsk(t *testing.T) {
	c := callOf("Bash", `{"command": "git push"}`)
	r := codex.Answer(c, hook.Verdict{Outcome: hook.Ask, Reason: "It pushes", Command: "bailiff exec -- 'git push'"})
	if r.Status != hook.Refused || !strings.Contains(r.Stdout, `"deny"`) ||
		!strings.HasSuffix(r.Stderr, "run exactly this, which waits for them: bailiff exec -- 'git push'") {
		t.Errorf("it answers %+v", r)
	}
}

func TestWhateverCodexMayNotRunIsSaidInBothWays(t *testing.T) {
	for _, v := range []hook.Verdict{{}, {Reason: "No."}, {Outcome: hook.Ask, Reason: "Perhaps."}, {Outcome: 99, Reason: "?"}} {
		r := codex.Answer(callOf("Bash", `{"command": "ls"}`), v)
		if r.Status != hook.Refused || !strings.Contains(r.Stdout, `"permissionDecision":"deny"`) || r.Stderr == "" ||
			!strings.Contains(r.Stdout, v.Reason) {
			t.Errorf("to %+v it answers %+v", v, r)
		}
	}
}

func TestACommandOfCodexOnThisMachineReadsNothing(t *testing.T) {
	r := codex.Answer(callOf("Bash", `{"command": "bash"}`), hook.Verdict{Outcome: hook.Allow})
	if want := `"updatedInput":{"command":"exec \u003c/dev/null\nbash"}`; !strings.Contains(r.Stdout, want) || r.Status != 0 {
		t.Errorf("it answers %+v", r)
	}
}

func TestAPatchWithinACommandOfCodexDoesNotRunOnThisMachine(t *testing.T) {
	c := callOf("Bash", `{"command": "cd x && apply_patch <<EOF\n*** Begin Patch"}`)
	r := codex.Answer(c, hook.Verdict{Outcome: hook.Allow})
	if r.Status != hook.Refused || !strings.Contains(r.Stderr, "use the tool apply_patch") {
		t.Errorf("on this machine it answers %+v", r)
	}
	if r := codex.Answer(c, hook.Verdict{Outcome: hook.Allow, Command: "bailiff exec -- …"}); r.Status != 0 {
		t.Errorf("in the sandbox it answers %+v", r)
	}
}
