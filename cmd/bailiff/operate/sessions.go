package operate

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewSessions is "bailiff sessions".
func NewSessions(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Show what sessions did",
		Long: `Shows what the running sidecar remembers of sessions.

Exit status: 0, or 1 if no sidecar answers or nothing is remembered of the session.`,
	}
	cmd.AddCommand(newSessionsList(configPath), newSessionsShow(configPath))
	cli.NamingOne(cmd)
	return cmd
}

func newSessionsList(configPath *string) *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "list",
		Short: "List the sessions that were used last",
		Long: `Lists the hundred sessions that were used last, the latest first.

Exit status: 0, or 1 if no sidecar answers.`,
		Example: "  bailiff sessions list --output json",
	}, configPath, (*client.Client).Sessions, printSessions)
}

func printSessions(w io.Writer, list []api.Session) {
	fmt.Fprintln(w, "SESSION\tCALLER\tLAST USED")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", termsafe.Text(s.ID), termsafe.Text(s.Caller), s.LastUsed.UTC().Format(time.DateTime))
	}
}

func newSessionsShow(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show what a session did, as the policies see it, and its latest requests",
		Long: `Shows what is remembered of a session: the files that it brought, the hosts that it named and
reached, what it read of credentials, who approved how much; and its latest events in the decision
log, the oldest first. Where several callers have a session of that id, all of them.

Exit status: 0, or 1 if no sidecar answers or nothing is remembered of the session.`,
		Example: "  bailiff sessions show cli-1000",
		Args:    cli.OneID("session"),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			shown, err := operator.Session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return cli.Show(cmd, format, shown, func(w io.Writer) { printSession(w, shown) })
		}),
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

func printSession(w io.Writer, shown api.SessionShown) {
	for _, past := range shown.Histories {
		h := past.History
		fmt.Fprintf(w, "SESSION\t%s of %s, last used %s\n", termsafe.Text(past.ID), termsafe.Text(past.Caller),
			past.LastUsed.UTC().Format(time.DateTime))
		if !h.Complete {
			fmt.Fprintln(w, "COMPLETE\tno: facts are missing")
		}
		fmt.Fprintf(w, "REQUESTS\t%d within a day, %d s of running\n", h.Requests.Day, h.RunSeconds)
		fmt.Fprintf(w, "DENIALS\t%d, the last %d in a row\n", h.Denials.Total, h.Denials.InARow)
		if h.SessionFacts == nil {
			continue
		}
		for _, f := range h.Files {
			fmt.Fprintf(w, "FILE\t%s %s %s\n", f.How, termsafe.Text(f.Path), f.At.UTC().Format(time.DateTime))
		}
		for _, fact := range []struct {
			name string
			all  []string
		}{
			{"NAMED", h.Hosts}, {"REACHED", counted(h.Reached, " B sent")}, {"CREDENTIALS READ", h.CredentialsRead},
			{"VARIABLES", h.Forwarded}, {"FINDINGS", counted(h.Findings, "")}, {"APPROVED BY", counted(h.ApprovedBy, "")},
			{"SUB-AGENTS", h.Agents},
		} {
			if len(fact.all) > 0 {
				fmt.Fprintf(w, "%s\t%s\n", fact.name, termsafe.Text(strings.Join(fact.all, ", ")))
			}
		}
	}
	fmt.Fprintln(w, "\nTIME\tEVENT\tOUTCOME\tRULES\tREQUEST")
	for _, e := range slices.Backward(shown.Decisions) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.Timestamp.UTC().Format(time.DateTime), e.Event, e.Outcome, strings.Join(e.Rules, " "),
			termsafe.Text(e.Text))
	}
}

// counted are names with their numbers.
func counted[N int | int64](all map[string]N, unit string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, fmt.Sprintf("%s (%d%s)", name, all[name], unit))
	}
	return list
}
