package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/judging/replay"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewReplay is "bailiff replay".
func NewReplay(configPath *string) *cobra.Command {
	var r rerun
	var format string
	cmd := &cobra.Command{
		Use:   "replay --policies PATH… [LOG…]",
		Short: "Judge past decisions by other policies and say what would differ",
		Long: `Judges what a decision log holds by other policies: whom they would deny, ask about
or let run, and with which other variables, backend and limits. Nothing is run.
LOG is a file, a folder of such or a state folder; without one it is that of the
configuration. The comparison is with what was logged or, with --against, with what
those policies decide of the same requests, as a change of policies is best reviewed.

Exit status: 0 if nothing differs, 2 if anything does (with "--fail-on looser" only
if a request could do more than before, with "--fail-on none" never), 1 if it could
not be judged, or lines of the log cannot be read.`,
		Example: `  bailiff replay --policies my-policies
  bailiff replay --policies new --against old --fail-on looser decisions.jsonl`,
		RunE: func(cmd *cobra.Command, logs []string) error {
			report, err := r.run(cmd.Context(), *configPath, logs)
			if err != nil {
				return err
			}
			return cmp.Or(cli.Show(cmd, format, report, func(w io.Writer) { printReplay(w, report) }), r.verdict(report))
		},
	}
	cmd.Flags().StringArrayVar(&r.policies, "policies", nil, "judge by these: a folder, file or bundle, by `PATH`; may be repeated")
	cmd.Flags().StringArrayVar(&r.against, "against", nil, "compare with these, by `PATH`, not with what was logged; may be repeated")
	cmd.Flags().StringVar(&r.failOn, "fail-on", "any", "any, looser or none")
	cli.OutputFlag(cmd, &format)
	return cmd
}

// verdict is the exit status of a report.
func (r rerun) verdict(report replay.Report) error {
	if failures[r.failOn](report) {
		return cli.Status(2)
	}
	if lines, found := report.Unreadable(); found {
		return fmt.Errorf("the report lacks lines: %s, the first at %s:%d: see \"bailiff audit verify\"", lines,
			termsafe.Text(lines.File), lines.Line)
	}
	return nil
}

// failures say by --fail-on whether a report is one.
var failures = map[string]func(replay.Report) bool{
	"any":    func(r replay.Report) bool { return r.Changed > 0 },
	"looser": func(r replay.Report) bool { return r.Looser > 0 },
	"none":   func(replay.Report) bool { return false },
}

const (
	// replayLimit is how long one decision may take in a replay: however busy the
	// machine is, it must make no difference.
	replayLimit = 10 * time.Second
)

// rerun is a replay as its flags order it.
type rerun struct {
	policies, against []string
	failOn            string
	since             time.Time
}

// Rejudge has other policies judge anew what the logs, or else the configuration's, hold from a moment on.
func Rejudge(ctx context.Context, configPath string, policies, logs []string, since time.Time) (replay.Report, error) {
	return rerun{policies: policies, failOn: "none", since: since}.run(ctx, configPath, logs)
}

// run judges the logs, or else the configuration's, by policies on trial, with the
// floor under them.
func (r rerun) run(ctx context.Context, configPath string, logs []string) (replay.Report, error) {
	switch {
	case failures[r.failOn] == nil:
		return replay.Report{}, fmt.Errorf("--fail-on is %q, want any, looser or none", r.failOn)
	case len(r.policies) == 0:
		return replay.Report{}, errors.New("--policies is missing: name the policies to judge by")
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return replay.Report{}, err
	}
	if len(logs) == 0 {
		logs = []string{cfg.StateDir}
	}
	trial, err := r.trial(ctx, cfg)
	if err != nil {
		return replay.Report{}, err
	}
	return trial.Run(ctx, logs)
}

func (r rerun) trial(ctx context.Context, cfg *config.Config) (t replay.Trial, err error) {
	debug.SetGCPercent(cli.ShortRunGC)
	t.Floor, t.Since = offline.Floor(cfg), r.since
	if t.Policies, err = pdp.Try(ctx, pdp.Config{Paths: r.policies, EvalTimeout: replayLimit}); err != nil || len(r.against) == 0 {
		return t, err
	}
	t.Against, err = pdp.Try(ctx, pdp.Config{Paths: r.against, EvalTimeout: replayLimit})
	return t, err
}

func printReplay(w io.Writer, r replay.Report) {
	with := "with what was logged"
	if r.Against != "" {
		with = "with " + r.Against
	}
	fmt.Fprintf(w, "%d decisions judged by %s and compared %s\n", r.Judged, r.Revision, with)
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "left out: %s, the first at %s:%d\n", s, termsafe.Text(s.File), s.Line)
	}
	for _, s := range r.Outcomes {
		if s.From != s.To {
			fmt.Fprintf(w, "%s would be %s\t%d\n", s.From, s.To, s.Decisions)
		}
	}
	for _, c := range r.Changes {
		printChange(w, c)
	}
	fmt.Fprintf(w, "%d differ: %d let more happen, %d less\n", r.Changed, r.Looser, r.Stricter)
}

func printChange(w io.Writer, c replay.Change) {
	fmt.Fprintf(w, "\n%s\t%s\n", c.Direction, termsafe.Text(c.String()))
	who := strings.Join(c.Users, " ")
	if more := c.UserCount - len(c.Users); more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	fmt.Fprintf(w, "\t%d decisions for %s\n", c.Decisions, termsafe.Text(who))
	for _, e := range c.Examples {
		fmt.Fprintf(w, "\t%s %s %s %q\n", e.DecisionID, termsafe.Text(e.User), e.Tool, e.Text)
	}
}
