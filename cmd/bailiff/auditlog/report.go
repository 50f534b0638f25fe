package auditlog

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/judging/replay"
	"github.com/bailiff-dev/bailiff/internal/record/report"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// Rejudge has other policies judge anew what logs hold from a moment on.
type Rejudge func(ctx context.Context, configPath string, policies, logs []string, since time.Time) (replay.Report, error)

// NewReport is "bailiff report".
func NewReport(configPath *string, rejudge Rejudge) *cobra.Command {
	r := reporting{rejudge: rejudge}
	cmd := &cobra.Command{
		Use:   "report [LOG…]",
		Short: "Sum up what ran, what was asked and denied, and how people answered",
		Long: `Sums up the decision log, whether or not a sidecar is running: where commands ran, what each
rule asked and denied, how often each chat and person was asked about, how people answered and
how fast, where connections led, and which rules asked and heard nothing but yes. With
--policies it also says what those policies would have decided otherwise. LOG is a file, a
folder of such or a state folder; without one it is that of the configuration.

Exit status: 0, or 1 if the log cannot be read.`,
		Example: `  bailiff report --since 7d
  bailiff report --since 2026-01-31 --output markdown --policies my-policies >report.md`,
		RunE: func(cmd *cobra.Command, logs []string) error { return r.run(cmd, *configPath, logs) },
	}
	cli.SinceFlag(cmd, &r.since, "7d")
	cmd.Flags().StringArrayVar(&r.policies, "policies", nil, "say what these would have decided otherwise, by `PATH`; may be repeated")
	cmd.Flags().StringVar(&r.format, "output", "table", "table, json or markdown")
	return cmd
}

// reporting is "bailiff report" as its flags order it.
type reporting struct {
	since, format string
	policies      []string
	rejudge       Rejudge
}

// told is a report as JSON has it.
type told struct {
	report.Report
	// Otherwise is what other policies would have decided, where some are named.
	Otherwise *replay.Report `json:"otherwise,omitempty"`
}

func (r reporting) run(cmd *cobra.Command, configPath string, logs []string) error {
	show := map[string]func(told) error{
		"json":  func(t told) error { return cli.Show(cmd, "json", t, nil) },
		"table": func(t told) error { return printTables(cmd.OutOrStdout(), t) },
		"markdown": func(t told) error {
			return report.Markdown(cmd.OutOrStdout(), "What the decision log tells", t.Summary(), t.tables())
		},
	}[r.format]
	if show == nil {
		return fmt.Errorf("--output is %q, want table, json or markdown", r.format)
	}
	since, err := cli.Moment(r.since, time.Now())
	if err != nil {
		return err
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	if len(logs) == 0 {
		logs = []string{cfg.StateDir}
	}
	var t told
	if t.Report, err = report.Of(cmd.Context(), logs, since); err != nil {
		return err
	}
	if len(r.policies) > 0 && t.Requests != (report.Outcomes{}) {
		otherwise, err := r.rejudge(cmd.Context(), configPath, r.policies, logs, since)
		if err != nil {
			return err
		}
		t.Otherwise = &otherwise
	}
	return show(t)
}

// tables are those of the report, and what other policies would have decided.
func (t told) tables() []api.ReportTable {
	tables := t.Tables()
	if t.Otherwise == nil {
		return tables
	}
	changes := api.ReportTable{Head: []string{"direction", "change", "decisions", "for example"}, Title: fmt.Sprintf(
		"What other policies would have decided otherwise: %d of %d", t.Otherwise.Changed, t.Otherwise.Judged)}
	for _, c := range t.Otherwise.Changes {
		var examples []string
		for _, e := range c.Examples {
			examples = append(examples, e.Text)
		}
		changes.Rows = append(changes.Rows, []string{string(c.Direction), termsafe.Text(c.String()), strconv.Itoa(c.Decisions),
			termsafe.Text(strings.Join(examples, "; "))})
	}
	return append(tables, changes)
}

func printTables(to io.Writer, t told) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, t.Summary())
	for _, table := range t.tables() {
		fmt.Fprintf(w, "\n%s\n", table.Title)
		for i, row := range table.Rows {
			if i == 0 {
				fmt.Fprintln(w, strings.Join(table.Head, "\t"))
			}
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
	}
	return w.Flush()
}
