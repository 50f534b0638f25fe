package operate

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewProject is "bailiff project".
func NewProject(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "Take over what a command left in a project",
		Long:  "Takes over what a command left in a folder that sandboxes show, and what was kept aside there.",
	}
	cmd.AddCommand(newProjectAdopt(configPath))
	return cmd
}

func newProjectAdopt(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt PATH",
		Short: "Take the changed version of a protected file, which was put back",
		Long: `Puts the changed version of a protected file in its place, which a command had left and
which was put back. PATH is the file, for the latest change of it, or where a changed
version lies (NAME.refused). Look at it first: programs of yours start by it. What was
there before is kept aside in its turn. "bailiff status" lists the changes that are kept.

Where PATH is a folder in which a command made a git repository, git of yours finds it
there from then on: its branches, tags, stash, index and remotes, in a copy without hooks
and other settings. No command may run in the project meanwhile.

Exit status: 0, or 1 if no change of it is kept, or it was written to since.`,
		Example: "  bailiff project adopt ~/src/shop/.npmrc",
		Args:    cobra.ExactArgs(1),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
				path = filepath.Join(folder, filepath.Base(path))
			}
			adopted, err := operator.Adopt(cmd.Context(), path)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "adopted: %s\n", termsafe.Text(adopted.Path))
			if adopted.Former != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "the version before it: %s\n", termsafe.Text(adopted.Former))
			}
			return nil
		}),
	}
}
