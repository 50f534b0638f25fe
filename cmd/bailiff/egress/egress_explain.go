package egress

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/auditlog"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

func newEgressExplain(configPath *string) *cobra.Command {
	var e connectionsExplained
	var format string
	cmd := &cobra.Command{
		Use:   "explain [ID]",
		Short: "Say why connections of the decision log were opened or refused",
		Long: `Takes connections from the decision log and says what became of each and by which rule,
and how the policies of the configuration judge it now: by which rules, lists and rows,
each with its file and line, and which rows do not fit it and why. ID is the decision_id
of the request that the connection belonged to, as answers and events have it. Without it
--host or --session choose. Of connections that are alike the last one is explained.
Nothing is looked up or dialled.

Exit status: 0, or 1 if there is none, or the log or the policies cannot be read.`,
		Example: `  bailiff egress explain --host pypi.org --session chat-42
  bailiff egress explain 3f1c9a2e-0c1d-4f7b-9d5e-1f2a3b4c5d6e --output json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && e.host == "" && e.session == "" {
				return errors.New("give one decision_id, or --host or --session")
			}
			if len(args) == 1 {
				e.id = args[0]
			}
			return e.run(cmd, *configPath, format)
		},
	}
	cmd.Flags().StringVar(&e.host, "host", "", "only connections to this host, as it was judged")
	cmd.Flags().StringVar(&e.session, "session", "", "only those of this session")
	cmd.Flags().IntVarP(&e.most, "lines", "n", 5, "how many of the last connections")
	cli.OutputFlag(cmd, &format)
	return cmd
}

// connectionsExplained says which connections are; an empty text is any.
type connectionsExplained struct {
	id, host, session string
	most              int
}

func (e *connectionsExplained) run(cmd *cobra.Command, configPath, format string) error {
	if e.most < 1 {
		return fmt.Errorf("--lines is %d, want how many of the last connections, from 1 on", e.most)
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	var lines []api.Line
	selection := audit.Selection{Last: math.MaxInt, Match: e.matches}
	if err := audit.Tail(cmd.Context(), cfg.StateDir, selection, func(text []byte) error {
		l, err := api.ReadLine(bytes.Clone(text))
		if err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		lines = e.add(lines, l)
		return nil
	}); err != nil {
		return err
	}
	if len(lines) == 0 {
		return e.none()
	}
	judge, err := offline.Open(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	if word := offline.RolledBack(cfg); word != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: warning: %s\n", termsafe.Text(word))
	}
	all := []offline.LoggedConnection{}
	for _, l := range lines {
		all = append(all, judge.ExplainLogged(cmd.Context(), l))
	}
	return cli.Show(cmd, format, all, func(w io.Writer) { printLogged(w, all) })
}

// none is the error where the log has no connection that is wanted.
func (e *connectionsExplained) none() error {
	const none = `the decision log has no such connection: "bailiff egress list" shows those of the last day`
	if e.host == "" {
		return errors.New(none)
	}
	return fmt.Errorf(`%s. Sandboxes of a platform without "network: egress" have no network, so that nothing of theirs is logged: `+
		`"bailiff egress check %s" says what would become of a connection`, none, shellquote.Quote(e.host))
}

// matches says whether a line of the log is about a connection that is wanted.
func (e *connectionsExplained) matches(text []byte) (bool, error) {
	if !bytes.Contains(text, []byte(`"connection"`)) || !bytes.Contains(text, []byte(e.id)) {
		return false, nil
	}
	l, err := api.ReadLine(text)
	if err != nil {
		return false, fmt.Errorf("reading an event: %w", err)
	}
	c := l.Custom.Connection
	return c != nil && c.What != "closed" && (e.id == "" || l.DecisionID == e.id) && (e.host == "" || c.Host == e.host) &&
		(e.session == "" || l.Custom.Session == e.session), nil
}

// add puts a line in the place of an earlier one that is alike, and keeps the last.
func (e *connectionsExplained) add(lines []api.Line, l api.Line) []api.Line {
	lines = append(slices.DeleteFunc(lines, func(earlier api.Line) bool {
		return *earlier.Custom.Connection == *l.Custom.Connection && earlier.DecisionID == l.DecisionID
	}), l)
	return lines[max(0, len(lines)-e.most):]
}

func printLogged(w io.Writer, all []offline.LoggedConnection) {
	for i, p := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "logged\t%s\t%s\n", p.Time.Format(time.RFC3339), termsafe.Text(auditlog.ConnectionText(p.Logged)))
		fmt.Fprintf(w, "request\t%s\tof session %s\n", termsafe.Text(p.ID), termsafe.Text(cmp.Or(p.Session, "unknown")))
		switch {
		case p.Fault != "":
			fmt.Fprintf(w, "now\t\tit cannot be judged anew: %s\n", termsafe.Text(p.Fault))
			continue
		case p.Now == nil:
			fmt.Fprintf(w, "now\t\tno policy was asked: bailiff itself refused it\n")
			continue
		case p.Judged != nil && *p.Judged == bailiff.Allow && p.Logged.What == "refused":
			fmt.Fprintf(w, "then\t\tthe policies allowed it, and bailiff itself refused it\n")
		}
		if p.JudgedRevision != p.Now.Revision {
			fmt.Fprintf(w, "then\t%s\tby the policies %.12s, which are others than those now\n", outcomeThen(p.Judged),
				termsafe.Text(p.JudgedRevision))
		}
		printReached(w, *p.Now)
	}
}

func outcomeThen(outcome *bailiff.Outcome) string {
	if outcome == nil {
		return "unknown"
	}
	return outcome.String()
}
