// Command bailiff is the sidecar and its command line.
//
// Each command is a file of its own. "bailiff serve" runs package app; commands that
// ask a running sidecar go through its sockets like every other client.
package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
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
	return exitStatus(root.ExecuteContext(ctx))
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
		newSetup(&configPath), newDoctor(&configPath), newServe(&configPath), newExec(&configPath), newDecide(&configPath),
		newTest(&configPath), newCheck(&configPath),
		newApprovals(&configPath), newFreeze(&configPath), newThaw(&configPath), newConsole(&configPath), newLogin(), newLogout(),
		newChat(&configPath),
		newStatus(&configPath), newSandboxes(&configPath), newPolicies(&configPath), newAudit(&configPath), newEgress(&configPath),
		newStore(&configPath), newFleet(), newReplay(&configPath), newJudge(&configPath), newMCP(&configPath), newHermes(&configPath),
		newDemo(), newRunTests(), newVersion(), newSchema(), newMan(),
	)
	namingOne(root)
	root.SetFlagErrorFunc(wrongFlag)
	return root
}
