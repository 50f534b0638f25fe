package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/mcp"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// ExamineServer starts the server of tools that is in an agent's settings, as the agent would,
// and calls its shell.
func ExamineServer(ctx context.Context, s settings.Server) (all diagnosis.Checks) {
	name := "tools of " + s.Path
	if s.Off != "" {
		all.Fail(name, "The agent does not start them: "+s.Off+".", "Take that away.")
		return all
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.Env = os.Environ() // as the agent that the user starts
	door, err := mcp.Start(ctx, cmd)
	if err != nil {
		all.Fail(name, fmt.Sprintf("%s does not serve them. %s", shellquote.Join(s.Command...), sentence(err)),
			"Start it by hand, and see what it says.")
		return all
	}
	examineDoor(ctx, &all, name, door)
	return all
}

// examineMCP visits the tools of a listener that serves them by HTTP.
func examineMCP(ctx context.Context, all *diagnosis.Checks, l config.Listener, token bailiff.Secret) {
	name := "tools by MCP at " + l.Name
	door, err := mcp.Visit(ctx, l.Listen.Network, l.Listen.Address, token)
	if err != nil {
		all.Fail(name, sentence(err), "Start the sidecar anew, so that it serves the listener's section mcp.")
		return
	}
	examineDoor(ctx, all, name, door)
}

// examineDoor calls what must run and what must not. The session ends with the connection.
func examineDoor(ctx context.Context, all *diagnosis.Checks, name string, door *mcp.Door) {
	defer door.Close()
	for _, c := range []struct {
		command string
		fails   bool
	}{{"echo " + mark, false}, {denied, true}} {
		said, failed, err := door.Terminal(ctx, c.command)
		if err != nil {
			all.Fail(name, sentence(err), "Look at bailiff status.")
			return
		}
		if failed != c.fails || !c.fails && !strings.Contains(said, mark) {
			all.Fail(name, fmt.Sprintf("Of %q the tool says: %s", c.command, bailiff.Foreign(said)),
				"Look at bailiff status and bailiff audit tail.")
			return
		}
	}
	all.Fine(name, "The tool terminal runs what is allowed, and denies what must be denied.")
}
