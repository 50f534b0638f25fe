// Package egress has the commands about connections of sandboxes: which there were, which would be, and rows for those that were
// refused.
//
// Promised is that no connection is made.
package egress

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/auditlog"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// New is "bailiff egress".
func New(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "egress",
		Short: "See what sandboxes reached by the network egress, and what they would reach",
		Long: `Shows what became of the connections of sandboxes whose network is egress and why, what
would become of others, and which rows would let through what was refused. Without a
subcommand it lists, as "bailiff egress list" does.

Exit status: see the subcommands.`,
		Example: `  bailiff egress --session chat-42 --refused`,
	}
	cmd.AddCommand(newEgressList(configPath), newEgressCheck(configPath), newEgressExplain(configPath),
		newEgressSuggest(configPath))
	cli.NamingOne(cmd)
	listHosts(cmd, configPath)
	return cmd
}

func newEgressList(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hosts that sandboxes reached or were refused",
		Long: `Lists hosts and ports from the decision log, whether or not a sidecar is running: how
often each was opened and refused, by which rules, how many bytes passed, and when it
was last tried. Each request counts where requests are judged one by one.

Exit status: 0, or 1 if the log cannot be read.`,
		Example: `  bailiff egress list --since 168h
  bailiff egress list --session chat-42 --output json`,
		Args: cobra.NoArgs,
	}
	listHosts(cmd, configPath)
	return cmd
}

// listHosts has a command list hosts.
func listHosts(cmd *cobra.Command, configPath *string) {
	var since, format string
	var wanted connectionsWanted
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := offline.LoadConfig(*configPath)
		if err != nil {
			return err
		}
		from, err := cli.Moment(since, time.Now())
		if err != nil {
			return err
		}
		reached := hosts{}
		selection := audit.Selection{Last: math.MaxInt, Since: from}
		count := func(line []byte) error { return reached.read(line, wanted) }
		if err := audit.Tail(cmd.Context(), cfg.StateDir, selection, count); err != nil {
			return err
		}
		rows := reached.rows(wanted.refused)
		return cli.Show(cmd, format, rows, func(w io.Writer) { printHosts(w, rows) })
	}
	cli.SinceFlag(cmd, &since, "24h")
	cmd.Flags().StringVar(&wanted.session, "session", "", "only those of this session")
	cmd.Flags().StringVar(&wanted.host, "host", "", "only this host, as it was judged")
	cmd.Flags().BoolVar(&wanted.refused, "refused", false, "only hosts and ports of which something was refused")
	cli.OutputFlag(cmd, &format)
}

// connectionsWanted are those that are listed; an empty text is any.
type connectionsWanted struct {
	session, host string
	refused       bool
}

// reachedHost is what became of the connections to a host and port.
type reachedHost struct {
	Host     string    `json:"host"`
	Port     int       `json:"port"`
	Opened   int       `json:"opened"`
	Refused  int       `json:"refused"`
	Rules    []string  `json:"rules"`
	Sent     int64     `json:"sent"`
	Received int64     `json:"received"`
	Last     time.Time `json:"last"`
}

// hosts are those of the log, by host and port.
type hosts map[string]*reachedHost

// read counts an event of a connection that is wanted.
func (h hosts) read(line []byte, wanted connectionsWanted) error {
	l, err := api.ReadLine(line)
	if err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	c := l.Custom.Connection
	if c == nil || wanted.session != "" && l.Custom.Session != wanted.session || wanted.host != "" && c.Host != wanted.host {
		return nil
	}
	key := auditlog.Endpoint(*c)
	one := h[key]
	if one == nil {
		one = &reachedHost{Host: c.Host, Port: c.Port, Rules: []string{}}
		h[key] = one
	}
	switch c.What {
	case "opened":
		one.Opened++
	case "refused":
		one.Refused += 1 + c.More
		if !slices.Contains(one.Rules, c.Rule) {
			one.Rules = append(one.Rules, c.Rule)
		}
	}
	one.Sent, one.Received = one.Sent+c.Sent, one.Received+c.Received
	if l.Timestamp.After(one.Last) {
		one.Last = l.Timestamp
	}
	return nil
}

// rows are the hosts in the order of their names and ports; those with refusals, if only
// they are wanted.
func (h hosts) rows(refused bool) []reachedHost {
	rows := []reachedHost{}
	for _, one := range h {
		if refused && one.Refused == 0 {
			continue
		}
		slices.Sort(one.Rules)
		rows = append(rows, *one)
	}
	slices.SortFunc(rows, func(a, b reachedHost) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port)) })
	return rows
}

func printHosts(w io.Writer, rows []reachedHost) {
	fmt.Fprintln(w, "HOST\tPORT\tOPENED\tREFUSED\tSENT\tRECEIVED\tLAST\tRULES")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", termsafe.Text(r.Host), r.Port, r.Opened, r.Refused, r.Sent, r.Received,
			r.Last.Format(time.RFC3339), termsafe.Text(strings.Join(r.Rules, ", ")))
	}
}
