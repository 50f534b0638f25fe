package operate

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewChat is "bailiff chat".
func NewChat(configPath *string) *cobra.Command {
	cmd := &cobra.Command{Use: "chat", Short: "Look at the chat services"}
	cli.NamingOne(cmd)
	cmd.AddCommand(newChatCheck(configPath))
	return cmd
}

func newChatCheck(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Prove that the chat services can be used, and name what is missing",
		Long: `Asks each chat service of the configuration whether its token is valid, whether
the account has the permissions that it needs where approvals are posted, and whether
the people who have an account there can see them. It posts nothing, needs no running
sidecar, and must be run as the sidecar's user, with its variables.

Exit status: 0 if all is well, 1 if anything is missing, or no service is configured.`,
		Example: "  bailiff chat check",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := app.CheckChats(cmd.Context(), *configPath)
			if err != nil {
				return err
			}
			if err := cli.Show(cmd, format, findings, func(w io.Writer) { printFindings(w, findings) }); err != nil {
				return err
			}
			return missing(findings)
		},
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

func printFindings(w io.Writer, findings []app.ChatFinding) {
	for _, f := range findings {
		said := "ok"
		if f.Fault != "" {
			said = termsafe.Text(f.Fault)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Service, termsafe.Text(f.What), said)
	}
}

// missing is the error that names how much is.
func missing(findings []app.ChatFinding) error {
	n := 0
	for _, f := range findings {
		if f.Fault != "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s missing at the chat services",
		map[bool]string{true: "one thing is", false: fmt.Sprintf("%d things are", n)}[n == 1])
}
