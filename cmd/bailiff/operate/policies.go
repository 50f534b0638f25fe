package operate

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewPolicies is "bailiff policies".
func NewPolicies(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policies",
		Short: "List the policies that were in force, and go back to earlier ones",
		Long: `Lists the policies that were in force at the running sidecar, and puts earlier ones
in force again, until they are told to make way for those of the configuration.

Exit status: 0, or 1 if no sidecar answers or nothing is changed.`,
	}
	cmd.AddCommand(newPoliciesHistory(configPath), newPoliciesShow(configPath), newPoliciesRollback(configPath),
		newPoliciesResume(configPath))
	cli.NamingOne(cmd)
	return cmd
}

func newPoliciesHistory(configPath *string) *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "history",
		Short: "List the revisions that were in force, the latest first",
		Long: `Lists the last twenty revisions that were in force, the latest first: since when each
last was, and by which way it came into force: files, a bundle, the program that has
them built in, or a rollback.

Exit status: 0, or 1 if no sidecar answers.`,
		Example: "  bailiff policies history --output json",
	}, configPath, (*client.Client).Revisions, printRevisions)
}

func printRevisions(w io.Writer, all []api.Revision) {
	fmt.Fprintln(w, "REVISION\tIN FORCE SINCE\tBY\tFILES\tBUNDLE")
	for _, r := range all {
		way := r.Way
		if r.Damaged {
			way = "cannot be read"
		}
		var bundles []string
		for _, archive := range cli.Names(r.Bundles) {
			bundles = append(bundles, termsafe.Text(r.Bundles[archive]))
		}
		fmt.Fprintf(w, "%.12s\t%s\t%s\t%d\t%s\n", r.Name, r.Since.Local().Format(time.DateTime), way, len(r.Files),
			strings.Join(bundles, " "))
	}
}

func newPoliciesShow(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "show REVISION [FILE]",
		Short: "Show what one of them said",
		Long: `Lists the files of a revision that was in force, or prints the text of one of them.
The first six letters of a revision or more will do if no other begins with them.

Exit status: 0, or 1 if it is not kept any more.`,
		Example: "  bailiff policies show 3f2a10 policies/data.yaml | diff - policies/data.yaml",
		Args:    cobra.RangeArgs(1, 2),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			if args[0] == "" {
				return errors.New("REVISION is empty: want the first six letters of one or more, as \"bailiff policies " +
					"history\" lists them")
			}
			shown, err := operator.Revision(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return printPolicy(cmd.OutOrStdout(), shown, args[1])
			}
			return cli.Show(cmd, format, shown, func(w io.Writer) {
				for _, f := range shown.Texts {
					fmt.Fprintf(w, "%s\t%d bytes\n", termsafe.Text(f.Name), len(f.Text))
				}
			})
		}),
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

// printPolicy prints the file that a name, or the end of it, means.
func printPolicy(w io.Writer, shown api.ShownRevision, name string) error {
	var meant []api.PolicyFile
	for _, f := range shown.Texts {
		if f.Name == name {
			meant = []api.PolicyFile{f}
			break
		}
		if strings.HasSuffix(f.Name, "/"+name) {
			meant = append(meant, f)
		}
	}
	if len(meant) != 1 {
		return fmt.Errorf("%d files of that revision are called %s; \"bailiff policies show %.12s\" lists them", len(meant),
			termsafe.Text(name), shown.Revision.Name)
	}
	_, err := io.WriteString(w, meant[0].Text)
	return err
}

func newPoliciesRollback(configPath *string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "rollback REVISION [--reason TEXT]",
		Short: "Put policies in force that were before",
		Long: `Puts policies in force that were before, at once, if they are sound today. They stay
in force until "bailiff policies resume" or another rollback, through restarts and
changes of the files or at the bundle server; the status warns as long. The files
are followed meanwhile, and the status says whether they are sound. The decision
log tells who did it.

Exit status: 0 if they are in force, 1 if nothing is changed.`,
		Example: "  bailiff policies rollback 3f2a10 --reason 'the new limits stop the nightly build'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("say which revision to put in force; \"bailiff policies history\" lists those that were")
			}
			operator, err := cli.OperatorClient(cmd.ErrOrStderr(), *configPath)
			if err != nil {
				return err
			}
			now, err := operator.RollBack(cmd.Context(), args[0], reason)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "in force: %.12s; \"bailiff policies resume\" has the policies of the "+
				"configuration in force again\n", now.Revision)
			return err
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "a `text` for the decision log and the status")
	return cmd
}

func newPoliciesResume(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "End a rollback: the policies of the configuration come into force",
		Long: `Ends a rollback: the policies of the configuration come into force, if they are sound.

Exit status: 0 if they are in force, 1 if nothing is changed.`,
		Example: "  bailiff policies resume",
		Args:    cobra.NoArgs,
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
			now, err := operator.Resume(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "in force: %.12s\n", now.Revision)
			return err
		}),
	}
}
