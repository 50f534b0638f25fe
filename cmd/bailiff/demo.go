package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/docker"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/policy"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

//go:embed requests.yaml
var demoRequests []byte

// demoRequest is one entry of requests.yaml.
type demoRequest struct {
	About   string          `yaml:"about"`
	Expect  string          `yaml:"expect"`
	Session bailiff.Session `yaml:"session"`
	Env     []string        `yaml:"env"`
	Backend string          `yaml:"backend"`
	Command string          `yaml:"command"`
	Code    string          `yaml:"code"`
}

func (r demoRequest) request() bailiff.Request {
	req := bailiff.Request{Tool: bailiff.Terminal, Session: r.Session, Env: r.Env, Backend: r.Backend,
		Args: bailiff.Args{Command: r.Command}}
	if r.Code != "" {
		req.Tool, req.Args = bailiff.ExecuteCode, bailiff.Args{Code: r.Code}
	}
	return req
}

func newDemo() *cobra.Command {
	var corpusToo bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job on shipped requests",
		Long: `Starts a sidecar of its own in a temporary folder, with the shipped policies and a
real sandbox (docker if an engine answers that has the image, bubblewrap
otherwise), sends it the requests of several chat sessions, and shows for each
what was decided, why, where it ran, with which variables, and what it printed.
Nothing else is needed, and nothing stays behind.

Exit status: 0 if every request was decided as expected, 1 otherwise.`,
		Example: "  bailiff demo\n  bailiff demo --corpus",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if corpusToo {
				return policy.DemoCorpus(cmd.Context(), cmd.OutOrStdout())
			}
			return demo(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&corpusToo, "corpus", false,
		"judge the shipped corpus of commands, evasions and innocents alike, instead; nothing is run")
	return cmd
}

func demo(ctx context.Context, w io.Writer) (err error) {
	var requests []demoRequest
	if err := yaml.UnmarshalWithOptions(demoRequests, &requests, yaml.Strict()); err != nil {
		return fmt.Errorf("reading the demo's requests: %w", err)
	}
	folder, err := os.MkdirTemp("", "bailiff-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.Chmod(folder, 0o711); err != nil { //nolint:gosec // sandboxes pass through it to their workspaces
		return err
	}
	sidecar, err := demoSidecar(ctx, folder)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- sidecar.Run(ctx) }()
	err = demoSend(ctx, w, demoAgent(folder), requests)
	stop()
	return errors.Join(err, <-ended)
}

// demoSidecar is a sidecar in a folder of its own, which holds two variables
// that the requests ask for.
func demoSidecar(ctx context.Context, folder string) (*app.App, error) {
	variables := "GITHUB_TOKEN=ghp_demo_0123456789\nAWS_SECRET_ACCESS_KEY=aws_demo_0123456789\n"
	text := fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: demo, listen: %q, platforms: ["*"]}]}
operator: {listen: "unix://%s/operator.sock"}
metrics: {listen: ""}
env: {sources: ["file:variables.env"]}
backends: {%sbubblewrap: {%s}, local: {}}
`, demoAgent(folder), folder, demoDocker(ctx, folder), demoLimits())
	file := filepath.Join(folder, "bailiff.yaml")
	err := errors.Join(os.WriteFile(filepath.Join(folder, "variables.env"), []byte(variables), 0o600),
		os.WriteFile(file, []byte(text), 0o600))
	if err != nil {
		return nil, err
	}
	return app.New(ctx, app.Config{File: file, Version: version, Log: io.Discard})
}

// demoAgent is where that sidecar takes requests.
func demoAgent(folder string) string { return "unix://" + filepath.Join(folder, "agent.sock") }

// demoLimits accepts that a user other than root has no control groups; the demo says so.
func demoLimits() string {
	if os.Geteuid() == 0 {
		return ""
	}
	return "accept_missing_limits: [cpus, memory_mb, pids]"
}

// demoImage is what "make test" makes; the demo pulls nothing.
const demoImage = "bailiff-sandbox:test"

// demoDocker is the configuration of docker, or nothing unless an engine answers that
// has the image.
func demoDocker(ctx context.Context, folder string) string {
	program, err := runner.Find("")
	if err != nil {
		return "" // the sidecar will say so
	}
	c := docker.Defaults()
	c.Image = demoImage
	backend, err := c.Make(backends.Host{Runner: program, StateDir: filepath.Join(folder, "state", "docker"),
		Log: slog.New(slog.DiscardHandler)})
	if err != nil || backend.Ready(ctx) != nil {
		return ""
	}
	return "docker: {image: " + demoImage + "}, "
}

func demoSend(ctx context.Context, w io.Writer, agent string, requests []demoRequest) error {
	sidecar, err := client.New(agent, bailiff.Secret{})
	if err != nil {
		return err
	}
	if demoLimits() != "" {
		fmt.Fprintln(w, "Not run as root: where bubblewrap cannot bound processor, memory and processes, it runs without these limits.")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DECISION\tSESSION\tREQUEST\tWHY\tBACKEND\tVARIABLES\tPRINTED")
	var unexpected []string
	for _, r := range requests {
		a, err := sidecar.Execute(ctx, r.request(), client.News{})
		if err != nil {
			return err
		}
		demoRow(table, r, a)
		if a.Decision.Outcome.String() != r.Expect || a.Status == bailiff.Unavailable || a.Status == bailiff.Failed {
			unexpected = append(unexpected, fmt.Sprintf("%s: %s %s", r.About, a.Status, a.Message))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(unexpected) > 0 {
		return fmt.Errorf("not as expected: %s", strings.Join(unexpected, "; "))
	}
	return nil
}

func demoRow(w io.Writer, r demoRequest, a api.Answer) {
	d := a.Decision
	variables := strings.Join(d.Env.Forward, " ")
	for _, held := range d.Env.Withheld {
		variables += " -" + held.Name
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Outcome, r.Session.ID, policy.Short(policy.OneLine(r.Command+r.Code), 48),
		cmp.Or(policy.RuleNames(d), r.About), cmp.Or(d.Backend.Name, "-"), cmp.Or(strings.TrimSpace(variables), "-"), printed(a))
}

func printed(a api.Answer) string {
	switch a.Status {
	case bailiff.Completed, bailiff.TimedOut, bailiff.Interrupted:
		return policy.Short(policy.OneLine(a.Output), 60)
	case bailiff.Unavailable, bailiff.Failed:
		return a.Message
	}
	return "- (not run)"
}
