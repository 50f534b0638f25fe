package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/gateway/mcp"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func newMCP(configPath *string) *cobra.Command {
	var who claim
	var where entrance
	var timeout int
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give an agent the sandboxed tools by MCP, over standard input and output",
		Long: `Serves the tools terminal, execute_code and process by the Model Context Protocol,
to the agent that started it, and sends each call to the running sidecar. Whose
calls they are is what the flags say, never what a model says. Each start is a
session of its own, whose sandbox goes when the agent hangs up, unless --session
names one that others share.

Where a person must approve, a call waits as long as --wait says. Where the
sidecar does not decide within --timeout, the call fails; a command never runs by
any other way.

Exit status: 0 when the agent has hung up, 1 if it could not be served.`,
		Example: `  bailiff mcp
  claude mcp add bailiff -- bailiff mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			door, err := where.open(*configPath, who.session.Platform)
			if err != nil {
				return err
			}
			server, err := mcp.New(mcp.Config{Name: "stdio", Version: version, Session: who.session, Env: who.env, WaitSeconds: who.wait,
				Sidecar: distant{door, time.Duration(timeout) * time.Second}, Log: newLog(config.Log{Level: "warn"}, cmd.ErrOrStderr())})
			if err != nil {
				return err
			}
			debug.SetGCPercent(2 * gcPercent) // nothing is live but the call, which leaves more behind than it sent
			return server.Pipe(cmd.Context(), os.Stdin, os.Stdout)
		},
	}
	who.registerSession(cmd, "one of its own")
	cmd.Flags().IntVar(&who.wait, "wait", mcp.UsualWait, "how many `seconds` a call waits for an approval, if one is due")
	cmd.Flags().IntVar(&timeout, "timeout", 15, "how many `seconds` the sidecar may take to decide")
	where.register(cmd)
	return cmd
}

// distant is a sidecar by one of its doors, which may be stuck: it has to decide
// within the patience. From then on the client sees whether it lives.
type distant struct {
	*client.Client
	patience time.Duration
}

var errStuck = errors.New("the sidecar did not decide in time, so the call was given up, and what was begun for it is stopped; \"bailiff status\" says how it is")

func (d distant) Execute(ctx context.Context, req bailiff.Request, asked func(gateway.Approval)) (gateway.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.patience, func() { cancel(errStuck) })
	defer watch.Stop()
	answer, err := d.Client.Execute(ctx, req, client.News{Decision: func(gateway.Decided) { watch.Stop() }, Approval: asked})
	if err != nil && errors.Is(context.Cause(ctx), errStuck) {
		return answer, errStuck
	}
	return answer, err
}

func (d distant) EndSession(ctx context.Context, session string) error {
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	if _, err := d.Client.EndSession(ctx, session); err != nil {
		return fmt.Errorf("ending session %s: %w", session, err)
	}
	return nil
}
