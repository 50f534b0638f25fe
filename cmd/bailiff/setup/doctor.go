package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/doctor"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// NewDoctor is "bailiff doctor".
func NewDoctor(configPath *string) *cobra.Command {
	var format string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "doctor [AGENT]",
		Short: "Prove that the sidecar guards who asks it, and say what would mend it",
		Long: `Asks at each listener at which you may ask: a command that must be allowed runs in a
sandbox and sees the projects that the policies show; one that must be denied is denied; one
that must be asked about reaches people (and is taken back at once); variables that must
stay out do; a host that no table names is not reached; limits of time and output hold. With
AGENT it starts the hooks that are in force in the agent's settings, as the agent would, and looks
whose they are, what they are called for and whether their times fit; Claude Code itself is started
in this folder, with a model that asks for one command that must be denied. The tools of an agent that
has them by MCP, and those of listeners with a section mcp, are called.

It approves nothing and needs no operator's right. All of it would do no harm if it ran.
Run it as the agent's user. With --wait a sidecar that is starting has that long until it answers;
one that could not start said why on its standard error.

AGENT is one of: ` + agents.List() + `.

Exit status: 0 if all is well, 2 if there are warnings only, 1 otherwise.`,
		Example: "  bailiff doctor claude-code\n  bailiff serve & bailiff doctor --wait 1m",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := examine(cmd.Context(), *configPath, wait, args)
			if err != nil {
				return err
			}
			if err := cli.Show(cmd, format, struct {
				Checks diagnosis.Checks `json:"checks"`
			}{all}, func(w io.Writer) { printChecks(w, all) }); err != nil {
				return err
			}
			return diagnosisStatus(all.Worst())
		},
	}
	cli.OutputFlag(cmd, &format)
	cli.WaitFlag(cmd, &wait)
	return cmd
}

// examine looks at the configuration, the sidecar, which may take so long to answer, and the agent's hooks.
func examine(ctx context.Context, configPath string, wait time.Duration, agent []string) (all diagnosis.Checks, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding bailiff's programs: %w", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("finding your home folder: %w", err)
	}
	cfg, err := offline.LoadConfig(configPath)
	var faults config.Faults
	switch {
	case errors.As(err, &faults):
		for _, fault := range faults {
			all.Fail("configuration", fault.Error(), "bailiff check")
		}
		return all, nil
	case err != nil:
		return nil, err
	}
	d := doctor.Doctor{Config: cfg, UID: os.Geteuid(), Start: shellquote.Join(program, "serve", "--config", cfg.Path)}
	if wait > 0 {
		if err := cli.UntilAnswered(ctx, wait, d.Reach); errors.Is(err, client.ErrUnreachable) {
			return nil, err
		}
	}
	operator, err := client.New(cfg.Operator.Listen.String(), bailiff.Secret{})
	if err != nil {
		return nil, err
	}
	if len(agent) > 0 {
		e := settings.Entry{Listen: cli.ListenOf(cfg), Programs: filepath.Dir(program), Home: home, Getenv: os.Getenv}
		if all, err = doctor.ExamineAgent(ctx, agent[0], e, operator); err != nil {
			return nil, err
		}
	}
	return append(all, d.Examine(ctx)...), nil
}
