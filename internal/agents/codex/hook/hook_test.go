package hook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents/codex"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

func callOf(tool, input string) hook.Call {
	c := hook.Call{Session: "s1", Cwd: "/p", Tool: tool}
	if err := json.Unmarshal([]byte(input), &c.Input); err != nil {
		panic(err)
	}
	return c
}

func TestCodexIsNeverAskedToAsk(t *testing.T) {
	c := callOf("Bash", `{"command": "git push"}`)
	r := Dialect{Table}.Answer(c, hook.Verdict{Outcome: hook.Ask, Reason: "It pushes", Command: "bailiff exec -- 'git push'"})
	if r.Status != hook.Refused || !strings.Contains(r.Stdout, `"deny"`) ||
		!strings.HasSuffix(r.Stderr, "run exactly this, which waits for them: bailiff exec -- 'git push'") {
		t.Errorf("it answers %+v", r)
	}
}

func TestWhateverCodexMayNotRunIsSaidInBothWays(t *testing.T) {
	for _, v := range []hook.Verdict{{}, {Reason: "No."}, {Outcome: hook.Ask, Reason: "Perhaps."}, {Outcome: 99, Reason: "?"}} {
		r := Dialect{Table}.Answer(callOf("Bash", `{"command": "ls"}`), v)
		if r.Status != hook.Refused || !strings.Contains(r.Stdout, `"permissionDecision":"deny"`) || r.Stderr == "" ||
			!strings.Contains(r.Stdout, v.Reason) {
			t.Errorf("to %+v it answers %+v", v, r)
		}
	}
}

func TestACommandOfCodexOnThisMachineReadsNothing(t *testing.T) {
	r := Dialect{Table}.Answer(callOf("Bash", `{"command": "bash"}`), hook.Verdict{Outcome: hook.Allow})
	if want := `"updatedInput":{"command":"exec \u003c/dev/null\nbash"}`; !strings.Contains(r.Stdout, want) || r.Status != 0 {
		t.Errorf("it answers %+v", r)
	}
}

func TestAPatchWithinACommandOfCodexDoesNotRunOnThisMachine(t *testing.T) {
	c := callOf("Bash", `{"command": "cd x && apply_patch <<EOF\n*** Begin Patch"}`)
	r := Dialect{Table}.Answer(c, hook.Verdict{Outcome: hook.Allow})
	if r.Status != hook.Refused || !strings.Contains(r.Stderr, "use the tool apply_patch") {
		t.Errorf("on this machine it answers %+v", r)
	}
	if r := (Dialect{}).Answer(c, hook.Verdict{Outcome: hook.Allow, Command: "bailiff exec -- …"}); r.Status != 0 {
		t.Errorf("in the sandbox it answers %+v", r)
	}
}

func TestAfterEachToolOfCodexThatWritesItsFilesAreLookedAtAgain(t *testing.T) {
	c := callOf("", `{"command": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch", "path": "/no/x"}`)
	again := strings.Split(codex.New().Writing, "|")
	for name := range tools {
		c.Tool = name
		m, err := tools.Meaning(c)
		if err != nil || m.Kind == 0 || slices.Contains(again, name) != m.Writes {
			t.Errorf("%s means %+v, %v, and files are looked at again after %q", name, m, err, again)
		}
	}
}
