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

// NewSandboxes is "bailiff sandboxes".
func NewSandboxes(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandboxes",
		Short: "List and remove live sandboxes",
		Long: `Lists and removes the running sidecar's sandboxes.

Exit status: 0, or 1 if no sidecar answers or there is no such sandbox.`,
	}
	cmd.AddCommand(newSandboxesList(configPath), newSandboxesRemove(configPath), newSandboxesReap(configPath))
	cli.NamingOne(cmd)
	return cmd
}

func newSandboxesList(configPath *string) *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "list",
		Short: "List the live sandboxes, the oldest first",
		Long: `Lists the live sandboxes with their sessions, the oldest first: how many requests,
background processes and Python interpreters of scripts are in each, and when it goes at the latest, in use or not.

Exit status: 0, or 1 if no sidecar answers.`,
		Example: "  bailiff sandboxes list --output json",
	}, configPath, (*client.Client).Sandboxes, printSandboxes)
}

func printSandboxes(w io.Writer, list []api.Sandbox) {
	fmt.Fprintln(w, "ID\tBACKEND\tCALLER\tSESSION\tIN USE\tPROCESSES\tPYTHON\tAGE\tLAST USED\tGOES IN")
	now := time.Now()
	for _, b := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s ago\t%s\n", b.ID, b.Backend, b.Caller, termsafe.Text(b.Session),
			b.Users, b.Processes, b.Interpreters,
			now.Sub(b.Since).Round(time.Second), now.Sub(b.LastUsed).Round(time.Second), b.Expires.Sub(now).Round(time.Second))
	}
}

func newSandboxesRemove(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "remove ID",
		Short: "Stop and remove one, with what runs in it",
		Long: "Stops and removes one sandbox, with what runs in it and its files. The first twelve\nletters of an id or more " +
			"will do if no other begins with them.\n\nExit status: 0, or 1 if there is none of that id.",
		Example: "  bailiff sandboxes remove 3f2a…",
		Args:    cli.OneID("sandbox"),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			list, err := operator.Sandboxes(cmd.Context())
			if err != nil {
				return err
			}
			id, err := sandboxNamed(list, args[0])
			if err != nil {
				return err
			}
			return operator.RemoveSandbox(cmd.Context(), id)
		}),
	}
}

// shortestID is how much of a sandbox's id names it.
const shortestID = 12

// sandboxNamed is the id of the one sandbox that a text names, or begins the name of.
func sandboxNamed(list []api.Sandbox, text string) (string, error) {
	var begun []string
	for _, s := range list {
		if s.ID == text {
			return text, nil
		}
		if len(text) >= shortestID && strings.HasPrefix(s.ID, text) {
			begun = append(begun, s.ID)
		}
	}
	switch len(begun) {
	case 1:
		return begun[0], nil
	case 0:
		return "", fmt.Errorf("no sandbox %s; \"bailiff sandboxes list\" shows those there are", termsafe.Text(text))
	}
	return "", fmt.Errorf("%d sandboxes begin with %s; give more of the id", len(begun), termsafe.Text(text))
}

func newSandboxesReap(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "reap",
		Short: "Remove those that are not in use now",
		Long: "Removes every sandbox that no request is using now, and what earlier runs left behind.\n\nExit status: 0, or " +
			"1 if no sidecar answers.",
		Example: "  bailiff sandboxes reap",
		Args:    cobra.NoArgs,
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
			removed, err := operator.Reap(cmd.Context())
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%d removed\n", removed)
			}
			return err
		}),
	}
}
