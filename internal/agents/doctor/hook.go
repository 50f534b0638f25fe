package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/setup"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// hookPatience is how long one question to a hook may take.
const hookPatience = time.Minute

// ExamineHooks starts the hooks of an agent as the agent would, and sees that what must be
// denied is denied by them, and that nothing passes where they fail.
func ExamineHooks(ctx context.Context, agent string, hooks []setup.Hook) (all diagnosis.Checks) {
	inForce, reason := 0, ""
	for _, h := range hooks {
		name := "hook in " + h.Path
		if h.Off != "" {
			all.Doubt(name, "The agent does not call it: "+h.Off+".",
				"Take that away, or have root set the hook (bailiff setup --managed).")
			continue
		}
		inForce++
		if why := examineHook(ctx, &all, name, h); why != "" {
			reason = why
		}
	}
	if agent == "claude-code" && reason != "" {
		examineClaude(ctx, &all, reason)
	}
	if inForce == 0 {
		all.Fail("hook", "No hook is in force in the settings of "+agent+", so that it asks about nothing.",
			"bailiff setup "+agent+" --project DIR")
	}
	return all
}

// examineHook returns the reason that the hook gives where it denies as it must.
func examineHook(ctx context.Context, all *diagnosis.Checks, name string, h setup.Hook) (reason string) {
	if what, do := h.Fault(); what != "" {
		all.Fail(name, what, do)
		return ""
	}
	for _, c := range []struct{ command, want string }{{"echo " + mark, "allow"}, {denied, "deny"}} {
		got, said, err := ask(ctx, h.Line, c.command)
		if err != nil {
			said = err.Error()
		}
		reason = said
		if got != c.want {
			all.Fail(name, fmt.Sprintf("About %q it says %q, want %q: %s", c.command, got, c.want, reason),
				"Start the sidecar, and see that --listen is where it listens.")
			return ""
		}
	}
	all.Fine(name, "It is %s, answers, and denies what must be denied.", h.Lock)
	if h.Doubt != "" {
		all.Doubt(name, h.Doubt+".",
			"Put the agent's program into the path, or have root set the hook instead (bailiff setup --managed), which needs no trust.")
	}
	return reason
}

// ask starts a hook by its line, as an agent does, and asks about a command.
func ask(ctx context.Context, line, command string) (decision, reason string, err error) {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	question, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": mark, "cwd": "/", "tool_name": "Bash",
		"tool_input": map[string]string{"command": command}})
	if err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Env, cmd.Stdin = os.Environ(), bytes.NewReader(question) // as the agent that the user starts
	var printed, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &said
	ended := cmd.Run()
	var answer struct {
		Out struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(printed.Bytes(), &answer); err != nil {
		return "", "", fmt.Errorf("it answers nothing that can be read (%v): %s", ended, bailiff.Foreign(said.String()))
	}
	return answer.Out.Decision, answer.Out.Reason, nil
}
