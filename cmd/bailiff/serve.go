package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/policy"
)

// gcPercent trades a few megabytes for half of the collections: what is live is
// small, and each request leaves some hundred kilobytes behind.
const gcPercent = 200

func newServe(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the sidecar",
		Long: `Runs the sidecar until it is told to stop (SIGINT, SIGTERM); running commands then
have ten seconds to end. Policies reload by themselves when their files change.
SIGHUP re-reads the configuration: listeners with their users, platforms and
tokens change at once, the log names what waits for a restart, and a faulty
configuration changes nothing.

Exit status: 0 after an orderly stop, 1 if the sidecar could not start or failed.`,
		Example: "  bailiff serve --config /etc/bailiff/bailiff.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(gcPercent)
			a, err := app.New(cmd.Context(), app.Config{File: *configPath, Version: version, TestCommand: policy.TestCommand(),
				OwnsProcess: true, Log: cmd.ErrOrStderr()})
			if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
				return nil // it was told to stop while its start waited
			}
			if err != nil {
				return err
			}
			go rereadOnHangup(cmd.Context(), a)
			return a.Run(cmd.Context())
		},
	}
}

// rereadOnHangup has the sidecar read its configuration again with each SIGHUP.
func rereadOnHangup(ctx context.Context, a *app.App) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			a.Reread(ctx)
		}
	}
}
