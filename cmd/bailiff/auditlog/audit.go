// Package auditlog has the commands about the record: the decision log, verified, shown and exported, and the store that sidecars
// share.
//
// Promised is that they read files and the database alone, so that they work where no sidecar runs.
package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// New is "bailiff audit".
func New(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify the decision log",
		Long: `Reads the decision log in the state folder, whether or not a sidecar is running.

Exit status: see the subcommands.`,
	}
	cmd.AddCommand(newAuditTail(configPath), newAuditVerify(configPath), newAuditHead(configPath),
		newAuditExport(configPath))
	cli.NamingOne(cmd)
	return cmd
}

func newAuditTail(configPath *string) *cobra.Command {
	var t tail
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last events",
		Long: `Prints the last events of the decision log, and with --follow those that come.
"--filter" picks those for which a condition in CEL holds, over the fields of an event
as "--output json" prints them; "--since" those from a time on, all of them unless
"-n" says how many.

Exit status: 0, or 1 if the log cannot be read.`,
		Example: `  bailiff audit tail -n 50 --follow
  bailiff audit tail --since 24h --filter 'result.outcome == "deny" && input.session.platform == "slack"'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, *configPath) },
	}
	cmd.Flags().IntVarP(&t.selection.Last, "lines", "n", 20, "how many of the last events")
	cmd.Flags().BoolVarP(&t.selection.Follow, "follow", "f", false, "go on with those that come")
	cmd.Flags().StringVar(&t.filter, "filter", "", "a condition in CEL on the events")
	cli.SinceFlag(cmd, &t.since, "")
	cli.OutputFlag(cmd, &t.format)
	return cmd
}

// tail is "bailiff audit tail" as its flags order it.
type tail struct {
	format, filter, since string
	selection             audit.Selection
}

func (t *tail) run(cmd *cobra.Command, configPath string) error {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	switch given := cmd.Flags().Changed; {
	case t.format != "table" && t.format != "json":
		return fmt.Errorf("--output is %q, want table or json", t.format)
	case given("filter") && strings.TrimSpace(t.filter) == "":
		return errors.New("--filter is empty, want a condition, such as 'result.outcome == \"deny\"'")
	case t.selection.Last < 0:
		return fmt.Errorf("--lines is %d, want how many of the last events, from 0 on", t.selection.Last)
	case t.since != "" && !given("lines"):
		t.selection.Last = math.MaxInt
	}
	if err := t.pick(); err != nil {
		return err
	}
	return audit.Tail(cmd.Context(), cfg.StateDir, t.selection, func(line []byte) error {
		return PrintEvent(cmd.OutOrStdout(), t.format, line)
	})
}

// pick selects the events from a time on for which the filter holds; either may be empty.
func (t *tail) pick() (err error) {
	if t.filter != "" {
		condition, err := guard.OfEvent(t.filter)
		if err != nil {
			return fmt.Errorf("--filter: %w", err)
		}
		t.selection.Match = condition.Holds
	}
	if t.since != "" {
		t.selection.Since, err = cli.Moment(t.since, time.Now())
	}
	return err
}

// PrintEvent prints a line of the decision log, as JSON or for people.
func PrintEvent(w io.Writer, format string, line []byte) error {
	if format == "json" {
		_, err := fmt.Fprintf(w, "%s\n", line)
		return err
	}
	l, err := api.ReadLine(line)
	if err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	_, err = fmt.Fprintf(w, "%-30s  %-9s  %-24s  %s\n", l.Timestamp.Format(time.RFC3339Nano), l.Custom.Event,
		termsafe.Text(strings.TrimSpace(l.Custom.Session+" "+l.Custom.Agent.String())), termsafe.Text(about(l)))
	return err
}

// about says the rest of an event in one line, before it who used break-glass and why.
func about(l api.Line) string {
	if g := l.Custom.BreakGlass; g != nil {
		return fmt.Sprintf("%s broke the glass: %q  %s", g.By, g.Reason, happened(l))
	}
	return happened(l)
}

func happened(l api.Line) string {
	switch c := l.Custom; c.Event {
	case api.DecisionEvent:
		asked, decided := l.ReadInput(), l.ReadResult()
		rules := ""
		for _, d := range decided.Denials {
			rules += " " + d.Rule
		}
		return fmt.Sprintf("%s%s  %s %s", decided.Outcome, rules, asked.Tool, BothEnds(asked.Args.Text()))
	case api.ExecutionEvent:
		code := ""
		if c.ExitCode != nil {
			code = fmt.Sprint(" ", *c.ExitCode)
		}
		return strings.TrimSpace(fmt.Sprintf("%s%s in %s  %s", c.Status, code, c.Backend, c.Message))
	}
	if c := l.Custom.Connection; c != nil {
		return ConnectionText(*c)
	}
	return strings.TrimSpace(l.Custom.Backend + " " + l.Custom.Message)
}

func newAuditVerify(configPath *string) *cobra.Command {
	var v verification
	var f fleetVerification
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find lines that were edited, removed, reordered or cut off",
		Long: `Checks every line of the decision log, over all of its files, against its chain of
hashes and against the count that is kept outside the log's folder. What retention
removed is not missed; what was removed otherwise is.

With --against it also holds the log to heads that "bailiff audit head" signed and that
were kept elsewhere: this finds a log that was written anew by root, with the log's key.

With --fleet it checks the logs of all sidecars that share a PostgreSQL, and that each
goes as far as its sidecar has told the others: this finds a log that is missing, was cut
short or was begun anew. Give the state folders, or folders of state folders; without any
it is the one of the configuration. Copies must be younger than the heads: save these by
"bailiff audit head --fleet" before you copy, and give them by --heads.

Exit status: 0 if all is whole, 2 if a log was tampered with, cut short or is missing, 1
if something cannot be read.`,
		Example: `  bailiff audit verify --output json
  bailiff audit verify --against heads.jsonl --public-key head.pub
  bailiff audit verify --fleet --heads heads.jsonl /srv/copies`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && !f.fleet {
				return fmt.Errorf("%q: folders are named with --fleet only; without it the log is that of the configuration", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.fleet {
				return f.run(cmd, *configPath, v.format, args)
			}
			return v.run(cmd, *configPath)
		},
	}
	v.register(cmd)
	f.register(cmd)
	cli.OutputFlag(cmd, &v.format)
	return cmd
}

// verification is "bailiff audit verify" as its flags order it.
type verification struct{ format, against, publicKey string }

// register gives a command the flags that say to which heads the log is held.
func (v *verification) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.against, "against", "", "a `file` of signed heads, a line each; what a syslog writes before them is passed "+
		"over")
	cmd.Flags().StringVar(&v.publicKey, "public-key", "", "the public key of who signed them, a `file` as PEM")
	cmd.MarkFlagsRequiredTogether("against", "public-key")
}

func (v *verification) run(cmd *cobra.Command, configPath string) error {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	signed, err := v.heads()
	if err != nil {
		return err
	}
	report, fault := audit.Verify(cfg.StateDir, signed...)
	if fault != nil && len(report.Faults) == 0 {
		return fault
	}
	if err := cli.Show(cmd, v.format, report, func(w io.Writer) { printVerification(w, report) }); err != nil {
		return err
	}
	if fault != nil {
		return cli.Status(2)
	}
	return nil
}

// heads are those to which the log is held, none if there is no file of them.
func (v *verification) heads() ([]audit.Head, error) {
	if v.against == "" {
		return nil, nil
	}
	file, err := os.Open(v.against)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return audit.ReadHeads(file, v.against, v.publicKey)
}

func newAuditHead(configPath *string) *cobra.Command {
	var key string
	var ofFleet bool
	cmd := &cobra.Command{
		Use:   "head {--key FILE | --fleet}",
		Short: "Sign how far the decision log goes",
		Long: `Prints one line that says how many lines the decision log has on disk and the hash of
the last of them, signed. Kept on another machine, such lines show later whether the log is
still the one that was written: see "bailiff audit verify --against". The key is a file with
a key of Ed25519 as PEM, which the sidecar need not have. Run it at intervals, whether or not
a sidecar is running.

With --fleet it prints how far all sidecars that share a PostgreSQL have told each other that
their logs go, a line each run of a sidecar, not signed: see "bailiff audit verify --fleet".

Exit status: 0, or 1 if the log, the key or PostgreSQL cannot be read.`,
		Example: "  bailiff audit head --key head.key >>heads.jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ofFleet {
				return printFleetHeads(cmd, *configPath)
			}
			cfg, err := offline.LoadConfig(*configPath)
			if err != nil {
				return err
			}
			head, err := audit.SignHead(cfg.StateDir, key, time.Now())
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(head)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the private key, a `file` that is kept from others")
	cmd.Flags().BoolVar(&ofFleet, "fleet", false, "print how far the logs of all sidecars go that share a PostgreSQL")
	cmd.MarkFlagsOneRequired("key", "fleet")
	cmd.MarkFlagsMutuallyExclusive("key", "fleet")
	return cmd
}

func printVerification(w io.Writer, report audit.Report) {
	for _, f := range report.Faults {
		fmt.Fprintf(w, "%s\t%s\n", f.Place(), f.Problem)
	}
	if len(report.Faults) == 0 {
		fmt.Fprintf(w, "%s in %s: as they were written\n", cli.Amount(report.Lines, "line"), cli.Amount(int64(report.Segments), "file"))
		if report.Retired > 0 {
			fmt.Fprintf(w, "retention removed the %d lines before them: the log is whole from line %d on\n", report.Retired,
				report.Retired+1)
		}
		if report.Signed > 0 {
			fmt.Fprintf(w, "signed heads that agree with it: %d\n", report.Signed)
		}
		if report.Older > 0 {
			fmt.Fprintf(w, "signed heads of lines that retention removed: %d\n", report.Older)
		}
	}
}

// How many characters of a text's two ends are shown, where it is longer.
const shownHead, shownTail = 70, 30

// BothEnds quotes a text, or its ends with how much is between them.
func BothEnds(text string) string {
	all := []rune(text)
	between := len(all) - shownHead - shownTail
	if between <= 0 {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q … %s left out … %q", string(all[:shownHead]), cli.Amount(int64(between), "character"),
		string(all[len(all)-shownTail:]))
}

// ConnectionText says in a line what became of a connection.
func ConnectionText(c api.Connection) string {
	said := []string{c.What, c.Protocol, Endpoint(c), c.Method, c.Path}
	if c.What == "closed" {
		said = append(said, fmt.Sprintf("%s sent, %d received", cli.Amount(c.Sent, "byte"), c.Received))
	}
	if c.Rule != "" {
		said = append(said, "("+c.Rule+")")
	}
	if c.More > 0 {
		said = append(said, fmt.Sprintf("and %d more", c.More))
	}
	return strings.Join(slices.DeleteFunc(said, func(part string) bool { return part == "" }), " ")
}

// Endpoint is where a connection leads, as HOST:PORT.
func Endpoint(c api.Connection) string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }
