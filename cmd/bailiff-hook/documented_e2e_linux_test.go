package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	registry "github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// documented are the questions of agents that are not run here, as their makers' documents and sources have them; COMMAND stands for
// the command.
var documented = map[string]struct{ from, shell, other, refused string }{
	"vs-code": {
		from: "code.visualstudio.com/docs/agent-customization/hooks and chatHookService.ts of microsoft/vscode",
		shell: `{"timestamp": "2026-02-09T10:30:00.000Z", "hook_event_name": "PreToolUse", "session_id": "session-identifier",
			"transcript_path": "/path/to/transcript.json", "tool_name": "run_in_terminal", "tool_input": {"command": COMMAND,
			"explanation": "e", "goal": "g", "mode": "sync"}, "tool_use_id": "tool-123", "cwd": "/path/to/workspace"}`,
		other: `{"timestamp": "2026-02-09T10:30:00.000Z", "cwd": "/path/to/workspace", "sessionId": "session-identifier",
			"hookEventName": "PreToolUse", "transcript_path": "/path/to/transcript.json", "tool_name": "editFiles",
			"tool_input": {"files": ["src/main.ts"]}, "tool_use_id": "tool-123"}`,
		refused: "the tool editFiles is not known",
	},
	"cursor": {
		from: "cursor.com/docs/hooks",
		shell: `{"conversation_id": "string", "generation_id": "string", "model": "claude-opus-4-7-thinking-max",
			"model_id": "claude-opus-4-7", "model_params": [{"id": "thinking", "value": "true"}], "hook_event_name": "preToolUse",
			"cursor_version": "1.7.2", "workspace_roots": ["/project"], "user_email": null, "transcript_path": null, "tool_name": "Shell",
			"tool_input": {"command": COMMAND, "working_directory": "/project"}, "tool_use_id": "abc123", "cwd": "/project",
			"agent_message": "Installing dependencies..."}`,
		other: `{"conversation_id": "string", "generation_id": "string", "model": "m", "hook_event_name": "preToolUse",
			"cursor_version": "1.7.2", "workspace_roots": ["/project"], "user_email": null, "transcript_path": null, "tool_name": "Task",
			"tool_input": {}, "tool_use_id": "abc123"}`,
		refused: "do the work without it",
	},
}

func TestTheDoctorsQuestionsAreAnsweredWhereNoInputIsChanged(t *testing.T) {
	s := serve(t)
	for _, client := range []string{"cursor", "qwen-code", "vs-code"} {
		a, err := registry.Of(client)
		if err != nil {
			t.Fatal(err)
		}
		line := filepath.Join(apptest.Programs(t), "bailiff-hook") + " " + client + " --listen " + s.Agent + " --bailiff /bin/sh"
		for command, want := range map[string]string{"echo hello": "allow", "echo never-done": "deny"} {
			if got, reason, err := a.(registry.HookCaller).Ask(t.Context(), line, command); err != nil || got != want {
				t.Errorf("of %q %s is told %q, %v, want %q: %s", command, client, got, err, want, reason)
			}
		}
	}
}

func TestDocumentedQuestionsOfAgentsThatAreNotRunHereAreAnswered(t *testing.T) {
	s := serve(t)
	bailiff := filepath.Join(apptest.Programs(t), "bailiff")
	for client, c := range documented {
		ask := func(question, command string) told {
			question = strings.ReplaceAll(question, "COMMAND", hook.JSON(command))
			return hookProgram(t, question, client, "--listen", s.Agent, "--bailiff", bailiff)
		}
		path := apptest.Mark(t)
		told := ask(c.shell, "touch "+path+" && ls -d "+path+" && echo in $(pwd)")
		refuses(t, c.from, told, "run exactly this: ")
		_, order, _ := strings.Cut(strings.TrimSpace(told.stderr), "run exactly this: ")
		allowed := ask(c.shell, order)
		if allowed.status != 0 || !permits(allowed.stdout) || !strings.Contains(allowed.stdout, `"allow"`) {
			t.Errorf("%s: of the order it says, by %d: %s%s", c.from, allowed.status, allowed.stdout, allowed.stderr)
		}
		printed, err := exec.Command("sh", "-c", order).CombinedOutput()
		if err != nil || !strings.Contains(string(printed), path+"\nin /workspace") {
			t.Errorf("%s: the order prints %q, %v", c.from, printed, err)
		}
		apptest.WantNoMark(t, path)
		refuses(t, c.from, ask(c.shell, "echo never-done"), "It is never done here (house.denies)")
		refuses(t, c.from, ask(c.other, ""), c.refused)
	}
}
