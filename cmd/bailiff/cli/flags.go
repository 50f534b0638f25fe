package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// Claim holds the flags that say whose request a command sends.
type Claim struct {
	Session bailiff.Session
	Env     []string
	backend string
	timeout int
	workdir string
	// background starts the command and does not wait for its end.
	background bool
	Code       string
	RequestID  string
	Wait       int
}

// RegisterSession adds the flags that say whose requests they are; usual says of which
// session they are without one.
func (c *Claim) RegisterSession(cmd *cobra.Command, usual string) {
	c.RegisterWho(cmd, usual)
	cmd.Flags().StringArrayVar(&c.Env, "env", nil, "a variable to ask for, by `name`; may be repeated")
}

// RegisterWho adds the flags that name a session.
func (c *Claim) RegisterWho(cmd *cobra.Command, usual string) {
	f := cmd.Flags()
	f.StringVar(&c.Session.Platform, "platform", "cli", "the `name` of the chat platform, or cli")
	f.StringVar(&c.Session.ChatID, "chat", "", "the chat's `id`")
	f.StringVar(&c.Session.ChatType, "chat-type", "dm", "dm, group, channel or thread")
	f.StringVar(&c.Session.ThreadID, "thread", "", "the thread's `id`")
	f.StringVar(&c.Session.UserID, "user", userID(), "the user's `id`")
	f.StringVar(&c.Session.ID, "session", "", "the session's `id` (default: "+usual+")")
	f.BoolVar(&c.Session.Unattended, "unattended", false, "no person is there to ask")
}

// Register adds the flags that exec and decide share.
func (c *Claim) Register(cmd *cobra.Command) {
	c.RegisterSession(cmd, "platform and user")
	f := cmd.Flags()
	f.StringVar(&c.Session.Agent.ID, "agent", "", "the `id` of the agent that asks, where another agent of the session started it")
	f.StringVar(&c.Session.Agent.Parent, "agent-parent", "", "the `id` of the agent that started it (default: the session's own did)")
	f.IntVar(&c.Session.Agent.Depth, "agent-depth", 0, "how many agents stand between it and the person (default: 1, or 2 with a parent)")
	f.StringVar(&c.Session.Job, "job", "", "the scheduled or queued piece of work that the session is for, by `name`")
	f.StringVar(&c.backend, "backend", "", "the backend to ask for, by `name`")
	f.IntVar(&c.timeout, "timeout", 0, "`seconds` after which the command is killed (default: what the policies allow)")
	f.StringVar(&c.workdir, "workdir", "", "the absolute `folder` to run in (default: where the session's last command ended)")
	f.BoolVar(&c.background, "background", false, "start the command and do not wait for its end")
	f.StringVar(&c.Code, "code", "", "run the Python in `FILE` (execute_code) instead of a command")
}

// Request builds the request that the flags and arguments describe.
func (c *Claim) Request(args []string) (bailiff.Request, error) {
	req := bailiff.Request{ID: c.RequestID, Tool: bailiff.Terminal, Session: c.Who(), Env: c.Env, Backend: c.backend, WaitSeconds: c.Wait,
		Args: bailiff.Args{Timeout: c.timeout, Workdir: c.workdir, Background: c.background}}
	switch {
	case c.Code != "" && len(args) > 0:
		return req, fmt.Errorf("give either a command or --code, not both")
	case c.Code != "" && c.background:
		return req, fmt.Errorf("--background is for commands, not for --code")
	case c.Code != "":
		text, err := os.ReadFile(c.Code)
		if err != nil {
			return req, fmt.Errorf("reading the script: %w", err)
		}
		req.Tool, req.Args.Code, req.Args.Workdir = bailiff.ExecuteCode, string(text), ""
	case len(args) == 0:
		return req, fmt.Errorf("no command: give one after --, or a script by --code FILE")
	default:
		req.Args.Command = commandLine(args)
	}
	return req, nil
}

// Who is the session, with the usual id if none was given.
func (c *Claim) Who() bailiff.Session {
	session := c.Session
	session.ID = cmp.Or(session.ID, session.Platform+":"+session.UserID)
	session.Agent = c.agent()
	return session
}

// agent is the one that the flags name, as deep as it is at least.
func (c *Claim) agent() bailiff.Agent {
	a := c.Session.Agent
	switch {
	case a.ID == "" || a.Depth != 0:
	case a.Parent == "":
		a.Depth = 1
	default:
		a.Depth = 2
	}
	return a
}

// commandLine is the shell text of the arguments: one argument is shell text
// already, several are words to be quoted.
func commandLine(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return shellquote.Join(args...)
}

func userID() string {
	if u, err := user.Current(); err == nil {
		return u.Uid
	}
	return ""
}

// OutputFlag adds --output to a reading command.
func OutputFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "output", "table", "table or json")
}

// Show prints a value as JSON, or as a table by the function given.
func Show(cmd *cobra.Command, format string, value any, table func(w io.Writer)) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(termsafe.JSON{W: cmd.OutOrStdout()})
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	case "table":
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		table(w)
		return w.Flush()
	}
	return fmt.Errorf("--output is %q, want table or json", format)
}

// Listing completes a command that prints what the sidecar answers, as a table or as JSON.
func Listing[T any](cmd *cobra.Command, configPath *string, ask func(*client.Client, context.Context) (T, error),
	table func(io.Writer, T)) *cobra.Command {
	var format string
	cmd.Args = cobra.NoArgs
	cmd.RunE = AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
		answer, err := ask(operator, cmd.Context())
		if err != nil {
			return err
		}
		return Show(cmd, format, answer, func(w io.Writer) { table(w, answer) })
	})
	OutputFlag(cmd, &format)
	return cmd
}

// Names returns the keys of a map, sorted.
func Names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// SinceFlag has a command read --since, which [Moment] understands.
func SinceFlag(cmd *cobra.Command, into *string, otherwise string) {
	cmd.Flags().StringVar(into, "since", otherwise,
		"only events from this time on, such as 90m or 7d (ago), 2026-01-31 or 2026-01-31T08:00:00Z")
}

// Moment reads a time: how long ago, a day (UTC), or a day and a time.
func Moment(text string, now time.Time) (time.Time, error) {
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		if days, err := strconv.ParseUint(number, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(days)), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since is %q, want how long ago, such as 90m or 7d, or a time, such as 2026-01-31 or "+
		"2026-01-31T08:00:00Z", text)
}

// Amount is how many there are of something.
func Amount(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Override replaces in a request what the given flags say.
func (c *Claim) Override(flags *pflag.FlagSet, req *bailiff.Request) {
	for name, replace := range map[string]func(){
		"platform":   func() { req.Session.Platform = c.Session.Platform },
		"chat":       func() { req.Session.ChatID = c.Session.ChatID },
		"chat-type":  func() { req.Session.ChatType = c.Session.ChatType },
		"thread":     func() { req.Session.ThreadID = c.Session.ThreadID },
		"user":       func() { req.Session.UserID = c.Session.UserID },
		"session":    func() { req.Session.ID = c.Session.ID },
		"unattended": func() { req.Session.Unattended = c.Session.Unattended },
		"job":        func() { req.Session.Job = c.Session.Job },
		"agent":      func() { req.Session.Agent = c.agent() },
		"env":        func() { req.Env = c.Env },
		"backend":    func() { req.Backend = c.backend },
		"timeout":    func() { req.Args.Timeout = c.timeout },
		"workdir":    func() { req.Args.Workdir = c.workdir },
	} {
		if flags.Changed(name) {
			replace()
		}
	}
}
