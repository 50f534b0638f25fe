package policy

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/host/nice"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
)

const runTestsCommand = "run-policy-tests"

// NewRunTests is for the sidecar alone, which gives it the policies.
func NewRunTests() *cobra.Command {
	return &cobra.Command{
		Use:    runTestsCommand,
		Short:  "Run the tests of the policies on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(cli.ShortRunGC)
			nice.RaiseProcess()
			return regotest.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// TestCommand has this program run them, though another may lie in its file by now; nil where it cannot be found.
func TestCommand() func(context.Context) *exec.Cmd {
	self := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return nil
		}
	}
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, runTestsCommand)
		cmd.Args[0] = "bailiff"
		return cmd
	}
}
