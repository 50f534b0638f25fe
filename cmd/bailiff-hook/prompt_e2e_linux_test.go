package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

func TestClaudeCodeAsksItsUserAndThenTheCommandWaitsForItsApproval(t *testing.T) {
	a := agents["Claude Code"]
	for answer, runs := range map[string]bool{"allow": true, "deny": false} {
		t.Run(answer, func(t *testing.T) {
			s, path := serve(t), apptest.Mark(t)
			if runs {
				s.ApproveNext(t, 0)
			}
			m := apptest.ServeModel(t, a.shell("echo asked-about; touch "+path+" && ls -d "+path))
			asked := atThePrompt(t, a.machine(t, s.Agent, apptest.Programs(t)).Claude(t, m,
				"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"),
				answer)
			if !strings.HasPrefix(asked.Input.Command, "/usr/local/bin/bailiff exec ") ||
				!strings.Contains(asked.Reason, "It is asked about (house.asks") {
				t.Errorf("its user is asked about %+v", asked)
			}
			if told := m.Results(); len(told) != 1 || strings.Contains(told[0], "\n"+path) != runs {
				t.Errorf("its model is told %q", told)
			}
			apptest.WantNoMark(t, path)
		})
	}
}

// permission is what Claude Code asks its user for.
type permission struct {
	Input struct {
		Command string `json:"command"`
	} `json:"input"`
	Reason string `json:"decision_reason"`
}

// atThePrompt sits in front of Claude Code, has it work and answers what it asks.
func atThePrompt(t *testing.T, claude *exec.Cmd, answer string) (asked permission) {
	t.Helper()
	in, err := claude.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := claude.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := claude.Start(); err != nil {
		t.Fatal(err)
	}
	say(t, in, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "Do what is to be done."}})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			Type    string          `json:"type"`
			ID      string          `json:"request_id"`
			Request json.RawMessage `json:"request"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		switch line.Type {
		case "control_request":
			if err := json.Unmarshal(line.Request, &asked); err != nil {
				t.Fatal(err)
			}
			say(t, in, map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": line.ID,
				"response": map[string]any{"behavior": answer, "updatedInput": asked.Input, "message": "not now"}}})
		case "result":
			_ = in.Close()
		}
	}
	if err := claude.Wait(); err != nil {
		t.Fatal(err)
	}
	return asked
}

func say(t *testing.T, to io.Writer, what any) {
	t.Helper()
	if err := json.NewEncoder(to).Encode(what); err != nil {
		t.Fatal(err)
	}
}
