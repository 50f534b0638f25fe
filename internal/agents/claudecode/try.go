package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/tests/scripted"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// patience is how long it may take for one turn.
const patience = 2 * time.Minute

// Try has Claude Code itself work in this folder, by a model that asks for the command
// that must be denied and nothing else, and sees that the agent tells it the hook's reason. The
// agent reads its settings as it always does.
func (Agent) Try(ctx context.Context, command, reason string) (all diagnosis.Checks) {
	const name = "hook as Claude Code calls it"
	program, err := exec.LookPath("claude")
	if err != nil {
		all.Doubt(name, "Whether Claude Code calls the hook was not tried: no program claude is in the path.",
			"Put the agent's program into the path.")
		return all
	}
	told, err := resultOf(ctx, program, command)
	switch {
	case err != nil:
		all.Doubt(name, "Whether Claude Code calls the hook was not found out: "+bailiff.Sentence(err.Error()),
			"Start claude once by hand.")
	case !strings.Contains(told, reason):
		all.Fail(name, "Claude Code did not call the hook in this folder. Of a command that must be denied it said: "+bailiff.Foreign(told),
			"Look at /hooks in Claude Code, and for disableAllHooks in the settings of this folder (.claude).")
	default:
		all.Fine(name, "It called the hook, and told its model why the command was denied.")
	}
	return all
}

// resultOf is what Claude Code tells its model of the command.
func resultOf(ctx context.Context, program, command string) (told string, err error) {
	model, err := scripted.Serve(scripted.Call{Tool: "Bash", Args: map[string]any{"command": command, "description": "bailiff-doctor"}})
	if err != nil {
		return "", err
	}
	defer model.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	settings, err := json.Marshal(map[string]any{"env": map[string]string{"ANTHROPIC_BASE_URL": model.URL, "ANTHROPIC_API_KEY": "none",
		"ANTHROPIC_AUTH_TOKEN": "", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}})
	if err != nil {
		return "", fmt.Errorf("writing settings: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "-p", "Nothing is to be done.", "--no-session-persistence", "--strict-mcp-config",
		"--settings", string(settings))
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), "ANTHROPIC_BASE_URL="+model.URL), &said, &said, time.Second
	ended := cmd.Run()
	results := model.Results()
	if len(results) == 0 {
		return "", fmt.Errorf("it called no tool (%v): %s", ended, bailiff.Foreign(said.String()))
	}
	return results[0], nil
}
