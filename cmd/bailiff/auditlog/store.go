package auditlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
)

// NewStore is "bailiff store".
func NewStore(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the database that sidecars share",
		Long: `Looks after the PostgreSQL that "store.postgres" of the configuration names.

Exit status: 0, or 1 if it cannot be reached or changed.`,
	}
	cmd.AddCommand(newStoreMigrate(configPath))
	cli.NamingOne(cmd)
	return cmd
}

func newStoreMigrate(configPath *string) *cobra.Command {
	var owner settings.Credential
	cmd := &cobra.Command{
		Use:   "migrate [--dsn-file FILE | --dsn-env NAME]",
		Short: "Make the tables, and move a sidecar's own approvals there",
		Long: `Makes the tables in PostgreSQL, or adds what this version needs, and moves the questions,
grants and freezes there that the sidecar kept in its state folder. Sidecars that share the
database may go on meanwhile; the one whose folder is moved must be stopped. It may be run
again at any time.

The user of the connection must be allowed to make tables, unless nothing is to be made. Give
the connection string of one that may by --dsn-file or --dsn-env: the user that the
configuration names is then allowed to use the tables, and those of later versions. Only you
and root may read the file; a connection string is never an argument, which others see.

Exit status: 0, or 1 if something could not be done; then nothing was moved.`,
		Example: `  bailiff store migrate --config /etc/bailiff/bailiff.yaml
  bailiff store migrate --dsn-file owner.dsn`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			steps, moved, err := migrateStore(cmd.Context(), *configPath, owner)
			if err != nil {
				return err
			}
			what := "The tables are made"
			if steps == 0 {
				what = "The tables were up to date"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s; %d approvals were moved.\n", what, moved)
			return nil
		},
	}
	cmd.Flags().StringVar(&owner.File, "dsn-file", "", "the `file` with the connection string of a user that may make tables")
	cmd.Flags().StringVar(&owner.Env, "dsn-env", "", "the environment `variable` with it")
	cmd.MarkFlagsMutuallyExclusive("dsn-file", "dsn-env")
	return cmd
}

func migrateStore(ctx context.Context, configPath string, owner settings.Credential) (steps, moved int, err error) {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return 0, 0, err
	}
	if err := namesStore(cfg); err != nil {
		return 0, 0, err
	}
	as := cfg.Store.Postgres
	if owner.IsSet() {
		as.DSN = owner
	}
	db, err := app.OpenDatabase(ctx, as)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	if steps, err = db.Migrate(ctx); err != nil {
		return 0, 0, err
	}
	if owner.IsSet() {
		if err := grantTables(ctx, db, cfg.Store.Postgres); err != nil {
			return 0, 0, err
		}
	}
	moved, err = shared.Move(ctx, app.ApprovalsFile(cfg), db)
	return steps, moved, err
}

// grantTables lets the sidecars' user use what another one owns.
func grantTables(ctx context.Context, db *postgres.DB, sidecars config.Postgres) error {
	dsn, err := sidecars.DSN.Read()
	if err != nil {
		return err
	}
	user, err := postgres.UserOf(dsn)
	if err != nil || user == db.User() {
		return err
	}
	return db.GrantTo(ctx, user)
}

func openStore(ctx context.Context, cfg *config.Config) (*postgres.DB, error) {
	if err := namesStore(cfg); err != nil {
		return nil, err
	}
	return app.OpenDatabase(ctx, cfg.Store.Postgres)
}

func namesStore(cfg *config.Config) error {
	if !cfg.Store.Postgres.DSN.IsSet() {
		return errors.New("the configuration names no database: add store: {postgres: {dsn: {file: PATH}}}")
	}
	return nil
}
