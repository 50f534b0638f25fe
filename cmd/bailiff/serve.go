package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
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
			cfg, err := loadConfig(*configPath)
			if err != nil {
				return err
			}
			debug.SetGCPercent(gcPercent)
			log := newLog(cfg.Log, cmd.ErrOrStderr())
			s, err := newSidecar(cmd.Context(), cfg, log)
			if err != nil {
				return err
			}
			go s.reloadOnHangup(cmd.Context(), *configPath, log)
			return s.run(cmd.Context())
		},
	}
}

func (s *sidecar) reloadOnHangup(ctx context.Context, configPath string, log *slog.Logger) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s.rereadConfig(ctx, configPath, log)
		}
	}
}

func (s *sidecar) rereadConfig(ctx context.Context, configPath string, log *slog.Logger) {
	next, err := loadConfig(configPath)
	if err != nil {
		log.Error("re-reading the configuration: it is faulty, nothing is changed", "error", err)
		return
	}
	waiting, err := s.reload(ctx, next)
	if err != nil {
		log.Error("re-reading the configuration", "error", err)
		return
	}
	log.Info("configuration re-read")
	if len(waiting) > 0 {
		log.Warn("restart the sidecar for the rest to take effect", "sections", strings.Join(waiting, ", "))
	}
}
