package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// Claude Code shows what a command printed so far where it runs in the background, and Codex where it takes longer than Codex waits.
func TestRealAgentsReadWhatTheirCommandsPrintAndAreToldWhatTheyLacked(t *testing.T) {
	const goesOn = "echo first; touch begun; until test -e go; do sleep 0.1; done; echo last"
	begun, rest := map[string][]apptest.Call{}, map[string][]apptest.Call{}
	kept := regexp.MustCompile(`/[^\s"\\]+\.output\b`)
	read := apptest.Call{Tool: "Read", Args: func(told []string) any { return map[string]any{"file_path": kept.FindString(told[0])} }}
	begun["Claude Code"] = []apptest.Call{{Tool: "Bash", Args: map[string]any{"command": goesOn, "run_in_background": true}},
		agents["Claude Code"].shell("until test -e begun; do sleep 0.1; done"), read}
	rest["Claude Code"] = []apptest.Call{agents["Claude Code"].shell("true")}
	begun["Codex"] = []apptest.Call{{Tool: "exec_command", Args: map[string]any{"cmd": goesOn, "yield_time_ms": 4_000}}}
	rest["Codex"] = []apptest.Call{goingOn(20_000)}
	s := serve(t)
	for name := range begun {
		a := agents[name]
		t.Run(name, func(t *testing.T) {
			calls := append(begun[name], a.shell("touch go"))
			shown := len(calls) - 2
			calls = append(append(calls, rest[name]...), a.shell("printenv OF_NO_TABLE"), a.shell("seq 30000 | tee all.txt"),
				a.shell("sed -n 15000p all.txt"))
			told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t), " || {", " --env OF_NO_TABLE || {"), calls...)
			if !strings.Contains(told[shown], "first") || strings.Contains(told[shown], "\nlast") {
				t.Errorf("while it runs its model is told %q", told)
			}
			if name == "Codex" {
				wantSaid(t, told[shown+2], "last")
			}
			wantSaid(t, told[len(told)-3], "OF_NO_TABLE was withheld (env.")
			if cut := told[len(told)-2]; len(cut) > 50_000 || strings.Contains(cut, "\n15000\n") {
				t.Errorf("of much output its model is told %d bytes", len(cut))
			}
			wantSaid(t, told[len(told)-1], "15000")
		})
	}
}

func TestRealAgentsWaitForCommandsThatTakeLongerThanAMinute(t *testing.T) {
	backendtest.Reserve(t, "it takes more than a minute")
	waits := map[string][]apptest.Call{"Claude Code": nil, "Codex": {goingOn(30_000), goingOn(30_000), goingOn(30_000)}}
	s := serve(t)
	for name, a := range always() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const command = "for i in $(seq 65); do echo $i; sleep 1; done; hostname; echo to the end"
			calls := append([]apptest.Call{a.shell(command)}, waits[name]...)
			told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t)), calls...)
			wantSaid(t, strings.Join(told, ""), "sandbox\nto the end")
		})
	}
}

// goingOn waits for the command that Codex's first call began.
func goingOn(milliseconds int) apptest.Call {
	return apptest.Call{Tool: "write_stdin", Args: func(told []string) any {
		_, after, _ := strings.Cut(told[0], "session ID ")
		var id int
		_ = json.NewDecoder(strings.NewReader(after)).Decode(&id)
		return map[string]any{"session_id": id, "chars": "", "yield_time_ms": milliseconds}
	}}
}
