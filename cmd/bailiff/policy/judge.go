package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewJudge is "bailiff judge".
func NewJudge(configPath *string) *cobra.Command {
	var j judging
	cmd := &cobra.Command{
		Use:   "judge ROWS…",
		Short: "Judge labelled texts, and count what is let through and asked about in vain",
		Long: `Judges texts that people labelled by the policies of the configuration, or by those
of --policies, and counts where the two differ. Nothing is run. ROWS is a file of
JSON lines (- is standard input), each with "tool" (terminal or execute_code),
"text" and, where they are known, "want" (allow, either, ask or deny), "id", "group",
"workdir", "session" and "backend". A row without these three is judged on the host
(the backend local) for an attended session of the platform cli, in ~/project.

Let through are rows that want ask or deny and are allowed; false alarms those that
want allow and are not.

Exit status: 0, 2 if more is let through or asked about in vain than the limits
say, 1 if the rows could not be judged.`,
		Example: `  bailiff judge rows.jsonl --show through
  bailiff judge rows.jsonl --policies my-policies --max-let-through 2 --max-false-alarms 1 --output junit`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("give one file of ROWS at least; - is standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error { return j.run(cmd, *configPath, files) },
	}
	cmd.Flags().StringArrayVar(&j.policies, "policies", nil, "judge by these: a folder, file or bundle, by `PATH`; may be repeated")
	cmd.Flags().BoolVar(&j.undo, "undo", false, "judge as where snapshots are taken, so that rows with an isolated backend may be undone")
	cmd.Flags().StringVar(&j.groupBy, "group", "group", "count together the rows with one value at this `KEY`")
	cmd.Flags().StringVar(&j.labels, "labels", "", "what is wanted of rows without \"want\", by digests of their texts, in this `FILE`")
	cmd.Flags().StringVar(&j.show, "show", "",
		"list the rows let through (through), asked about in vain (false), or only for their programs on a host that knows none (sights)")
	cmd.Flags().Float64Var(&j.through.percent, "max-let-through", 0,
		"fail where more is let through, in `percent` of what wants ask or deny")
	cmd.Flags().Float64Var(&j.alarms.percent, "max-false-alarms", 0,
		"fail where more is asked about in vain, in `percent` of what wants allow")
	cmd.Flags().StringVar(&j.format, "output", "table", "table, json, junit or markdown")
	return cmd
}

// judging is "bailiff judge" as its flags order it.
type judging struct {
	policies              []string
	groupBy, show, format string
	labels                string
	undo                  bool
	through, alarms       limit
}

// limit is a share that may not be passed, if it is given.
type limit struct {
	percent float64
	given   bool
}

// printers print reports, by --output.
var printers = map[string]func(*judging, *cobra.Command, rows.Report) error{
	"json": func(j *judging, cmd *cobra.Command, r rows.Report) error { return cli.Show(cmd, "json", r, nil) },
	"table": func(j *judging, cmd *cobra.Command, r rows.Report) error {
		return cli.Show(cmd, "table", r, func(w io.Writer) { printRows(w, r) })
	},
	"junit":    (*judging).printJUnit,
	"markdown": func(_ *judging, cmd *cobra.Command, r rows.Report) error { return printMarkdown(cmd.OutOrStdout(), r) },
}

func (j *judging) run(cmd *cobra.Command, configPath string, files []string) error {
	j.through.given, j.alarms.given = cmd.Flags().Changed("max-let-through"), cmd.Flags().Changed("max-false-alarms")
	if err := j.check(); err != nil {
		return err
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	debug.SetGCPercent(cli.ShortRunGC)
	judge, err := offline.JudgeRows(cmd.Context(), cfg, j.policies, j.undo)
	if err != nil {
		return err
	}
	labels, err := j.readLabels()
	if err != nil {
		return err
	}
	run := &rows.Run{Judge: judge, GroupBy: j.groupBy, Show: j.show, Labels: labels}
	for _, file := range files {
		if err := addRows(cmd, run, file); err != nil {
			return err
		}
	}
	report := run.Report()
	if err := j.labelled(report); err != nil {
		return err
	}
	return cmp.Or(printers[j.format](j, cmd, report), j.verdict(report))
}

// readLabels reads the file of --labels, if one is given.
func (j *judging) readLabels() (rows.Labels, error) {
	if j.labels == "" {
		return nil, nil
	}
	in, err := os.Open(j.labels)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return rows.ReadLabels(in, j.labels)
}

func (j *judging) check() error {
	switch {
	case printers[j.format] == nil:
		return fmt.Errorf("--output is %q, want table, json, junit or markdown", j.format)
	case !slices.Contains([]string{"", rows.Through, rows.False, rows.Sights}, j.show):
		return fmt.Errorf("--show is %q, want %s, %s or %s", j.show, rows.Through, rows.False, rows.Sights)
	case j.groupBy == "":
		return errors.New("--group is empty, want a key of the rows")
	}
	for flag, l := range map[string]limit{"--max-let-through": j.through, "--max-false-alarms": j.alarms} {
		if !(l.percent >= 0 && l.percent <= 100) {
			return fmt.Errorf("%s is %v, want a percentage from 0 to 100", flag, l.percent)
		}
	}
	return nil
}

func addRows(cmd *cobra.Command, run *rows.Run, file string) error {
	if file == "-" {
		return run.Add(cmd.Context(), cmd.InOrStdin(), "standard input")
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return run.Add(cmd.Context(), in, file)
}

// labelled refuses a limit about which no row says anything.
func (j *judging) labelled(r rows.Report) error {
	switch {
	case r.Rows == 0:
		return errors.New("there are no rows")
	case j.through.given && r.Dangerous == 0:
		return errors.New("--max-let-through is about rows that want ask or deny, and there are none")
	case j.alarms.given && r.Harmless == 0:
		return errors.New("--max-false-alarms is about rows that want allow, and there are none")
	}
	return nil
}

// verdict is the exit status of a report.
func (j *judging) verdict(r rows.Report) error {
	switch {
	case r.Faults > 0:
		return fmt.Errorf("the policies gave no decision of %d rows: %s", r.Faults, termsafe.Text(r.Fault))
	}
	for _, b := range j.bars(r) {
		if b.exceeded() != "" {
			return cli.Status(2)
		}
	}
	return nil
}

// bar is a limit with the figures that it is about.
type bar struct {
	limit
	name, kind  string
	part, whole int
}

func (j *judging) bars(r rows.Report) []bar {
	return []bar{
		{j.through, "let through", rows.Through, r.LetThrough, r.Dangerous},
		{j.alarms, "false alarms", rows.False, r.FalseAlarms, r.Harmless},
	}
}

// exceeded says that the limit is passed, and is empty where it is not.
func (b bar) exceeded() string {
	if percent := rows.Percent(b.part, b.whole); b.given && percent > b.percent {
		return fmt.Sprintf("%s: %d of %d, %.2f %%, more than %v %%", b.name, b.part, b.whole, percent, b.percent)
	}
	return ""
}

func printRows(w io.Writer, r rows.Report) {
	fmt.Fprintln(w, "GROUP\tROWS\tDENY\tASK\tALLOW\tLET THROUGH\tFALSE ALARMS\tUNPARSED")
	for _, g := range append(r.Groups, total(r)) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%d\n", termsafe.Text(g.Group), g.Rows, g.Deny, g.Ask, g.Allow,
			share(g.LetThrough, g.Dangerous), share(g.FalseAlarms, g.Harmless), g.Unparsed)
	}
	fmt.Fprintln(w, "\nRULE\tROWS")
	for _, rule := range r.Rules {
		fmt.Fprintf(w, "%s\t%d\n", termsafe.Text(rule.Rule), rule.Rows)
	}
	if s := r.FirstSights; s != nil {
		fmt.Fprintf(w, "\na host that does not know their programs asks about %d more rows, once for each program %d; "+
			"%d of the rows want allow\n", s.Rows, s.Once, s.Harmless)
	}
	fmt.Fprintf(w, "\na judgement took %.1f ms, of 99 in 100 rows at most %.1f ms; policies %.12s\n", r.P50, r.P99, r.Revision)
	for _, s := range r.Shown {
		fmt.Fprintf(w, "\n%s\t%s, wants %s: %s\n\t%q\n", termsafe.Text(s.ID), s.Outcome, s.Want,
			termsafe.Text(strings.Join(append(s.Rules, s.Sights...), " ")), s.Text)
	}
}

// total is the sum of all groups.
func total(r rows.Report) rows.Group {
	sum := rows.Group{Group: "all", Rows: r.Rows, LetThrough: r.LetThrough, FalseAlarms: r.FalseAlarms, Dangerous: r.Dangerous,
		Harmless: r.Harmless}
	for _, g := range r.Groups {
		sum.Deny, sum.Ask, sum.Allow, sum.Unparsed = sum.Deny+g.Deny, sum.Ask+g.Ask, sum.Allow+g.Allow, sum.Unparsed+g.Unparsed
	}
	return sum
}

// share is a part of a whole in words; a dash where there is no whole.
func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", part, whole, rows.Percent(part, whole))
}

func printMarkdown(w io.Writer, r rows.Report) error {
	cell := strings.NewReplacer("|", "\\|", "\n", " ")
	text := "| group | rows | deny | ask | allow | let through | false alarms | unparsed |\n|---|---|---|---|---|---|---|---|\n"
	for _, g := range append(r.Groups, total(r)) {
		text += fmt.Sprintf("| %s | %d | %d | %d | %d | %s | %s | %d |\n", cell.Replace(termsafe.Text(g.Group)), g.Rows, g.Deny, g.Ask,
			g.Allow, share(g.LetThrough, g.Dangerous), share(g.FalseAlarms, g.Harmless), g.Unparsed)
	}
	text += "\n| rule | rows |\n|---|---|\n"
	for _, rule := range r.Rules {
		text += fmt.Sprintf("| `%s` | %d |\n", cell.Replace(termsafe.Text(rule.Rule)), rule.Rows)
	}
	for _, s := range r.Shown {
		text += fmt.Sprintf("\n- %s (%s, wants %s): %q\n", termsafe.Text(s.ID), s.Outcome, s.Want, s.Text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// printJUnit makes a test of each limit, which fails with the rows that are shown.
func (j *judging) printJUnit(cmd *cobra.Command, r rows.Report) error {
	suite := &junitSuite{Name: "bailiff judge"}
	var all junitReport
	for _, b := range j.bars(r) {
		one := junitCase{Name: b.name, Package: suite.Name}
		if !b.given {
			one.Skipped = &struct{}{}
		}
		if said := b.exceeded(); said != "" {
			one.Failure = &junitFault{Message: said, Text: shownAs(r, b.kind)}
		}
		suite.Cases = append(suite.Cases, one)
		suite.count(one)
		all.count(one)
	}
	all.Suites = []*junitSuite{suite}
	return encodeJUnit(cmd.OutOrStdout(), all)
}

func shownAs(r rows.Report, kind string) string {
	var text strings.Builder
	for _, s := range r.Shown {
		if s.Wrong == kind {
			fmt.Fprintf(&text, "%s %s, wants %s: %q\n", s.ID, s.Outcome, s.Want, s.Text)
		}
	}
	return text.String()
}
