package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/gateway/mcp"
)

func newMCP(configPath *string) *cobra.Command {
	var m stdioMCP
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
any other way. At the start standard error says what is wrong with the sidecar, if
anything is; calls fail until it is right, and run from then on.

Exit status: 0 when the agent has hung up, 1 if it could not be served.`,
		Example: `  bailiff mcp
  claude mcp add bailiff -- bailiff mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.serve(cmd, *configPath) },
	}
	m.who.registerSession(cmd, "one of its own")
	cmd.Flags().IntVar(&m.who.wait, "wait", mcp.UsualWait, "how many `seconds` a call waits for an approval, if one is due")
	cmd.Flags().IntVar(&m.timeout, "timeout", 15, "how many `seconds` the sidecar may take to decide")
	m.where.register(cmd)
	return cmd
}

// stdioMCP is "bailiff mcp" as its flags order it.
type stdioMCP struct {
	who     claim
	where   agentAddress
	timeout int
}

func (m *stdioMCP) serve(cmd *cobra.Command, configPath string) error {
	switch {
	case m.who.wait < 0 || m.who.wait > longestWait:
		return fmt.Errorf("--wait is %d, want seconds from 0 to %d", m.who.wait, longestWait)
	case m.timeout < 1 || m.timeout > longestWait:
		return fmt.Errorf("--timeout is %d, want seconds from 1 to %d", m.timeout, longestWait)
	}
	agent, err := m.where.open(configPath, m.who.session.Platform)
	if err != nil {
		return err
	}
	sidecar := distant{agent, time.Duration(m.timeout) * time.Second}
	server, err := mcp.New(mcp.Config{Name: "stdio", Version: version, Session: m.who.session, Env: m.who.env, WaitSeconds: m.who.wait,
		Sidecar: sidecar, Log: app.NewLog("warn", "text", cmd.ErrOrStderr())})
	if err != nil {
		return err
	}
	debug.SetGCPercent(2 * gcPercent) // nothing is live but the call, which leaves more behind than it sent
	sidecar.lookAt(cmd.Context(), cmd.ErrOrStderr())
	return server.Pipe(cmd.Context(), os.Stdin, os.Stdout)
}

// longestWait is the longest that the agent API takes, in seconds.
const longestWait = 24 * 60 * 60

// distant is a sidecar that is asked at one of its listeners, and may be stuck: it has to decide
// within the patience. From then on the client sees whether it lives.
type distant struct {
	*client.Client
	patience time.Duration
}

var errStuck = errors.New("the sidecar did not decide in time, so the call was given up, and what was begun for it is stopped; " +
	"\"bailiff status\" says how it is")

// healthTimeout is how long a look at the sidecar may take: the agent waits.
const healthTimeout = time.Second

// lookAt says what is wrong with the sidecar before anybody calls.
func (d distant) lookAt(ctx context.Context, stderr io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	_, err := d.Health(ctx)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		fmt.Fprintf(stderr, "bailiff: the sidecar did not answer within %v; \"bailiff status\" says how it is\n", healthTimeout)
	case err != nil:
		fmt.Fprintf(stderr, "bailiff: %v\n", err)
	}
}

func (d distant) Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.patience, func() { cancel(errStuck) })
	defer watch.Stop()
	step := func(what string) {
		watch.Stop() // bringing an image comes before the decision, and takes long
		if news.Step != nil {
			news.Step(what)
		}
	}
	answer, err := d.Client.Execute(ctx, req, client.News{Decision: func(api.Decided) { watch.Stop() }, Approval: news.Approval,
		Step: step})
	if err != nil && errors.Is(context.Cause(ctx), errStuck) {
		return answer, errStuck
	}
	return answer, err
}

func (d distant) EndSession(ctx context.Context, session string) (bailiff.Ended, error) {
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	ended, err := d.Client.EndSession(ctx, session)
	if err != nil {
		return bailiff.Ended{}, fmt.Errorf("ending session %s: %w", session, err)
	}
	return bailiff.Ended{Sandboxes: ended.Removed, Processes: ended.Processes}, nil
}
