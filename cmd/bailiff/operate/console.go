package operate

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
)

// NewConsole is "bailiff console".
func NewConsole(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "console",
		Short: "Print a link that opens the web page, once",
		Long: `Prints a link to the web page on which approvals are answered, for you as the
operators' socket knows you. It works once, for five minutes; the login that it
makes ends after half an hour without use, and after twelve hours in any case.

The page is where operator.console in bailiff.yaml says, on this machine unless
that names another address. From elsewhere, reach it by a tunnel:
ssh -L 8642:localhost:8642 MACHINE

Exit status: 0, or 1 if no sidecar answers or it has no console.`,
		Example: "  bailiff console",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			operator, err := cli.SocketClient(cmd.ErrOrStderr(), *configPath)
			if err != nil {
				return err
			}
			link, err := operator.ConsoleLink(cmd.Context())
			if err != nil {
				return withoutConsole(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), link.URL)
			fmt.Fprintf(cmd.ErrOrStderr(), "Open it before %s; it works once.\n", link.ExpiresAt.Local().Format(time.TimeOnly))
			return nil
		},
	}
}

// withoutConsole says what to do if the sidecar has no console.
func withoutConsole(err error) error {
	if cli.HasCode(err, "not_found") {
		return errors.New("this sidecar has no console; set operator.console in bailiff.yaml, as in localhost:8642, and restart it")
	}
	return err
}
