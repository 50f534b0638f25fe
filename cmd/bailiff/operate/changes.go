package operate

import (
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

// NewChanges is "bailiff changes".
func NewChanges(configPath *string) *cobra.Command {
	var format string
	var patch bool
	cmd := &cobra.Command{
		Use:   "changes [SESSION | REQUEST]",
		Short: "Show what commands changed in projects",
		Long: `Lists the commands before which a snapshot of the project was taken, the newest first: all, or those of a
session. Of a command, by the id of its decision or its request, it shows the files that changed while it ran,
with the lines that came and went, and whose change each is where more ran in sandboxes meanwhile. What changed
before it, since the last snapshot, stands below, with the sessions of which something ran; if none did, a person made it.

Exit status: 0, or 1 if no sidecar answers or nothing was kept under that id.`,
		Example: "  bailiff changes\n  bailiff changes 4be62d1c… --diff",
		Args:    cobra.MaximumNArgs(1),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			of := strings.Join(args, "")
			commands, err := operator.Changed(cmd.Context(), of)
			if err != nil {
				return err
			}
			if of == "" || len(commands) > 0 {
				return cli.Show(cmd, format, commands, func(w io.Writer) { printCommands(w, commands) })
			}
			changes, err := operator.Changes(cmd.Context(), of, patch)
			if err != nil {
				return err
			}
			return cli.Show(cmd, format, changes, func(w io.Writer) { printChanges(w, changes) })
		}),
	}
	cmd.Flags().BoolVar(&patch, "diff", false, "show the changes of a command as a patch, too")
	cli.OutputFlag(cmd, &format)
	return cmd
}

func printCommands(w io.Writer, all []api.Command) {
	fmt.Fprintln(w, "ID\tSESSION\tAGE\tPROJECT\tCOMMAND")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.ID, termsafe.Text(c.Session), time.Since(c.Time).Round(time.Second),
			termsafe.Text(strings.Join(c.Folders, " ")), termsafe.Text(c.Text))
	}
}

func printChanges(w io.Writer, changes api.Changes) {
	for _, f := range changes.Folders {
		fmt.Fprintf(w, "%s, during: %s\n", termsafe.Text(f.Folder), termsafe.Text(changes.Command.Text))
		if !f.Known {
			fmt.Fprintln(w, "What changed is not known: there is no snapshot after it.")
		}
		for _, c := range f.Changes {
			fmt.Fprintf(w, "  %s\t%s\t%s%s\n", c.Kind, lines(c), termsafe.Text(c.Path), by(c.Whose))
		}
		for _, u := range f.Unkept {
			fmt.Fprintf(w, "  not kept\t\t%s: %s\n", termsafe.Text(u.Path), termsafe.Text(u.Why))
		}
		printEarlier(w, f.Earlier)
	}
	for line := range strings.Lines(changes.Patch) {
		fmt.Fprintln(w, termsafe.Text(strings.TrimSuffix(line, "\n")))
	}
	if changes.IsCut {
		fmt.Fprintln(w, "The difference is longer than that.")
	}
}

// mostEarlier is how many changes of before a command are shown.
const mostEarlier = 20

func printEarlier(w io.Writer, was *api.EarlierChanges) {
	if was == nil {
		return
	}
	fmt.Fprintf(w, "Before it, since %s%s:\n", was.Since.Local().Format(time.DateTime), by(was.Whose))
	for _, c := range was.Changes[:min(len(was.Changes), mostEarlier)] {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", c.Kind, lines(c), termsafe.Text(c.Path))
	}
	if more := len(was.Changes) - mostEarlier; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}

// by is whose a change can be, behind its name.
func by(whose string) string {
	if whose == "" {
		return ""
	}
	return " (by " + termsafe.Text(whose) + ")"
}

func lines(c api.FileChange) string {
	if c.Added < 0 {
		return "no text"
	}
	return fmt.Sprintf("+%d -%d", c.Added, c.Removed)
}

// NewUndo is "bailiff undo".
func NewUndo(configPath *string) *cobra.Command {
	var force bool
	var format string
	cmd := &cobra.Command{
		Use:   "undo REQUEST [PATH…]",
		Short: "Put back what a command changed in a project",
		Long: `Makes the files that a command changed what they were before it: all, or what lies at the paths given. The command is
named by the id of its decision or its request; "bailiff changes" lists them. A file that changed since the command is left as it
is, unless --force is given. What git keeps of commits, branches and the index stays as it is. An undoing can be undone by its
own id.

Exit status: 0 if all is as it was, 2 if something was left or could not be put back, 1 if nothing was done.`,
		Example: "  bailiff undo 4be62d1c…\n  bailiff undo 4be62d1c… src/main.go",
		Args:    cobra.MinimumNArgs(1),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			undone, err := operator.Undo(cmd.Context(), args[0], api.Undoing{Paths: args[1:], Force: force})
			if err != nil {
				return err
			}
			if err := cli.Show(cmd, format, undone, func(w io.Writer) { printUndone(w, undone) }); err != nil {
				return err
			}
			if len(undone.Left)+len(undone.Failed) > 0 {
				return cli.Status(2)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "put back what changed since the command, too")
	cli.OutputFlag(cmd, &format)
	return cmd
}

func printUndone(w io.Writer, undone api.Undone) {
	for _, name := range undone.Restored {
		fmt.Fprintf(w, "as it was\t%s\n", termsafe.Text(name))
	}
	for _, name := range undone.Left {
		fmt.Fprintf(w, "left: it changed since\t%s\n", termsafe.Text(name))
	}
	for _, why := range undone.Failed {
		fmt.Fprintf(w, "not put back\t%s\n", termsafe.Text(why))
	}
	if len(undone.Restored) > 0 {
		fmt.Fprintf(w, "\"bailiff undo %s\" takes this back\n", undone.ID)
	}
}
