package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/operate"
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
	m.who.RegisterSession(cmd, "one of its own")
	cmd.Flags().IntVar(&m.who.Wait, "wait", api.UsualMCPWait, "how many `seconds` a call waits for an approval, if one is due")
	cmd.Flags().IntVar(&m.timeout, "timeout", 15, "how many `seconds` the sidecar may take to decide")
	cmd.Flags().IntVar(&m.clientTimeout, "client-timeout", 0, "after how many `seconds` the agent gives a call up, even one that "+
		"reports progress (default: what is known of it by its name)")
	cmd.Flags().BoolVar(&m.inProject, "in-project", false,
		"begin in the folder in which the agent started this, where the sandbox shows it")
	m.where.Register(cmd)
	cmd.AddCommand(newMCPProxy(configPath), operate.NewMCPTrust(configPath))
	return cmd
}

// stdioMCP is "bailiff mcp" as its flags order it.
type stdioMCP struct {
	who           cli.Claim
	where         cli.AgentAddress
	timeout       int
	clientTimeout int
	inProject     bool
}

func (m *stdioMCP) serve(cmd *cobra.Command, configPath string) error {
	switch {
	case m.who.Wait < 0 || m.who.Wait > longestWait:
		return fmt.Errorf("--wait is %d, want seconds from 0 to %d", m.who.Wait, longestWait)
	case m.timeout < 1 || m.timeout > longestWait:
		return fmt.Errorf("--timeout is %d, want seconds from 1 to %d", m.timeout, longestWait)
	case cmd.Flags().Changed("wait") && m.clientTimeout > 0 && m.who.Wait >= m.clientTimeout:
		return fmt.Errorf("--wait is %d, want less than --client-timeout, after whose %d seconds the agent gives the call up",
			m.who.Wait, m.clientTimeout)
	case m.clientTimeout < 0 || m.clientTimeout > 0 && m.clientTimeout < shortestClientTimeout:
		return fmt.Errorf("--client-timeout is %d, want %d seconds or more, or none", m.clientTimeout, shortestClientTimeout)
	}
	sidecar := &distant{patience: time.Duration(m.timeout) * time.Second,
		open: func() (*client.Client, error) { return m.where.Open(configPath, m.who.Session.Platform) }}
	if m.inProject {
		folder, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("finding the folder to begin in: %w", err)
		}
		sidecar.project = folder
	}
	server, err := mcp.New(mcp.Config{Name: "stdio", Version: version, Session: m.who.Session, Env: m.who.Env, WaitSeconds: m.who.Wait,
		ClientTimeout: time.Duration(m.clientTimeout) * time.Second, Sidecar: sidecar, Log: app.NewLog("warn", "text", cmd.ErrOrStderr())})
	if err != nil {
		return err
	}
	debug.SetGCPercent(2 * gcPercent) // nothing is live but the call, which leaves more behind than it sent
	sidecar.lookAt(cmd.Context(), cmd.ErrOrStderr())
	return server.Pipe(cmd.Context(), os.Stdin, os.Stdout)
}

// longestWait is the longest that the agent API takes, in seconds.
const longestWait = 24 * 60 * 60

// shortestClientTimeout leaves a call the time in which its client hears how to go on.
const shortestClientTimeout = 15

// distant is a sidecar that is asked at one of its listeners, and may be stuck: it has to decide
// within the patience. From then on the client sees whether it lives. Where it cannot be found, each
// call says why and looks for it again: an agent shows no error of a server that ends.
type distant struct {
	open     func() (*client.Client, error)
	patience time.Duration

	mu    sync.Mutex
	found *client.Client
	// project is the folder in which the first command runs, if its sandbox shows it at its own
	// path; empty once it was told.
	project string
}

// begin has the first command run in the project. The session stays where its commands go.
func (d *distant) begin(ctx context.Context, agent *client.Client, req bailiff.Request) bailiff.Request {
	d.mu.Lock()
	folder := d.project
	d.mu.Unlock()
	if folder == "" || req.Tool != bailiff.Terminal || req.Args.Workdir != "" {
		return req
	}
	text, err := json.Marshal(req)
	if err != nil {
		return req
	}
	decided, err := agent.DecideAhead(ctx, text)
	if err != nil {
		return req // which says why when it is sent
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if shows(decided.Decision.Backend.Mounts, folder) {
		req.Args.Workdir = folder
	}
	if decided.Decision.Outcome == bailiff.Allow {
		d.project = ""
	}
	return req
}

// shows says whether a folder of this machine is inside at its own path.
func shows(mounts []bailiff.Mount, folder string) bool {
	return slices.ContainsFunc(mounts, func(m bailiff.Mount) bool {
		return m.Source == m.Target && (folder == m.Source || strings.HasPrefix(folder, m.Source+"/"))
	})
}

func (d *distant) client() (*client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found == nil {
		found, err := d.open()
		if err != nil {
			return nil, fmt.Errorf("no sidecar is known to ask: %w", err)
		}
		d.found = found
	}
	return d.found, nil
}

var errStuck = errors.New("the sidecar did not decide in time, so the call was given up, and what was begun for it is stopped; " +
	"\"bailiff status\" says how it is")

// healthTimeout is how long a look at the sidecar may take: the agent waits.
const healthTimeout = time.Second

// lookAt says what is wrong with the sidecar before the first call.
func (d *distant) lookAt(ctx context.Context, stderr io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	agent, err := d.client()
	if err == nil {
		_, err = agent.Health(ctx)
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		fmt.Fprintf(stderr, "bailiff: the sidecar did not answer within %v; \"bailiff status\" says how it is\n", healthTimeout)
	case err != nil:
		fmt.Fprintf(stderr, "bailiff: %v\n", err)
	}
}

func (d *distant) Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error) {
	agent, err := d.client()
	if err != nil {
		return api.Answer{}, err
	}
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
	answer, err := agent.Execute(ctx, d.begin(ctx, agent, req), client.News{
		Decision: func(api.Decided) { watch.Stop() }, Approval: news.Approval,
		Step: step, Output: news.Output})
	if err != nil && errors.Is(context.Cause(ctx), errStuck) {
		return answer, errStuck
	}
	return answer, err
}

func (d *distant) EndSession(ctx context.Context, session string) (bailiff.Ended, error) {
	agent, err := d.client()
	if err != nil {
		return bailiff.Ended{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	ended, err := agent.EndSession(ctx, session)
	if err != nil {
		return bailiff.Ended{}, fmt.Errorf("ending session %s: %w", session, err)
	}
	return bailiff.Ended{Sandboxes: ended.Removed, Processes: ended.Processes}, nil
}
