// Command bailiff is the sidecar and its command line.
//
// Each command is a file, those about one subject a package below. "bailiff serve" runs package
// app; commands that ask a running sidecar go through its sockets like every other client.
package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/auditlog"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/egress"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/operate"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/policy"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/setup"
)

// linkedVersion is set by the linker; "go install" leaves it empty.
var linkedVersion string

var version = cmp.Or(linkedVersion, moduleVersion())

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns its exit status.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	return cli.ExitStatus(root.ExecuteContext(ctx))
}

func newRoot() *cobra.Command {
	var configPath string
	root := &cobra.Command{
		Use:   "bailiff",
		Short: "Judges and sandboxes what chat agents run on your machine",
		Long: `bailiff stands between an AI agent and the machine: every command and script that
a chat session asks for is judged by your Rego policies, and runs only where and
as they say.

"bailiff serve" runs the sidecar; "bailiff demo" shows all of it in one minute.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&configPath, "config", "",
		"the configuration `file` (default: $BAILIFF_CONFIG, ~/.config/bailiff/bailiff.yaml, /etc/bailiff/bailiff.yaml)")
	root.AddCommand(
		setup.New(&configPath), setup.NewDoctor(&configPath), newServe(&configPath), newExec(&configPath),
		policy.NewDecide(&configPath), policy.NewTest(&configPath), policy.NewCheck(&configPath),
		operate.NewApprovals(&configPath), operate.NewFreeze(&configPath), operate.NewThaw(&configPath),
		operate.NewConsole(&configPath), operate.NewLogin(), operate.NewLogout(), operate.NewChat(&configPath),
		operate.NewStatus(&configPath), operate.NewSandboxes(&configPath), operate.NewSessions(&configPath),
		operate.NewPolicies(&configPath),
		operate.NewProject(&configPath), operate.NewChanges(&configPath), operate.NewUndo(&configPath),
		auditlog.New(&configPath), egress.New(&configPath), auditlog.NewStore(&configPath), newFleet(),
		auditlog.NewReport(&configPath, policy.Rejudge),
		policy.NewReplay(&configPath), policy.NewJudge(&configPath), policy.NewPeople(&configPath),
		newMCP(&configPath), setup.NewHermes(&configPath),
		newDemo(), policy.NewRunTests(), newVersion(), newSchema(), newMan(),
	)
	cli.NamingOne(root)
	root.SetFlagErrorFunc(cli.WrongFlag)
	return root
}
