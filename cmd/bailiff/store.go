package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/offline"
	"github.com/bailiff-dev/bailiff/internal/postgres"
)

func newStore(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the database that sidecars share",
		Long: `Looks after the PostgreSQL that "store.postgres" of the configuration names.

Exit status: 0, or 1 if it cannot be reached or changed.`,
	}
	cmd.AddCommand(newStoreMigrate(configPath))
	namingOne(cmd)
	return cmd
}

func newStoreMigrate(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Make the tables, and move a sidecar's own approvals there",
		Long: `Makes the tables in PostgreSQL, or adds what this version needs, and moves the questions,
grants and freezes there that the sidecar kept in its state folder. Sidecars that share the
database may go on meanwhile; the one whose folder is moved must be stopped. It may be run
again at any time. The user of the connection must be allowed to make tables; the sidecars'
own need not be.

Exit status: 0, or 1 if something could not be done; then nothing was moved.`,
		Example: "  bailiff store migrate --config /etc/bailiff/bailiff.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			moved, err := migrateStore(cmd.Context(), *configPath)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The tables are up to date; %d approvals were moved.\n", moved)
			return nil
		},
	}
}

func migrateStore(ctx context.Context, configPath string) (moved int, err error) {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return 0, err
	}
	db, err := openStore(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		return 0, err
	}
	return approval.Move(ctx, app.ApprovalsFile(cfg), db)
}

func openStore(ctx context.Context, cfg *config.Config) (*postgres.DB, error) {
	if !cfg.Store.Postgres.DSN.Given() {
		return nil, errors.New("the configuration names no database: add store: {postgres: {dsn: {file: PATH}}}")
	}
	return app.OpenDatabase(ctx, cfg.Store.Postgres)
}
