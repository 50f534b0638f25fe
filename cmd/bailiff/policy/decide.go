// Package policy has the commands that judge without a sidecar: decide, test, check, judge, replay, and the corpus of the demo.
//
// Promised is that nothing is run, and that the same code judges as in a sidecar. Not here: the policies in force (package operate).
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewDecide is "bailiff decide".
func NewDecide(configPath *string) *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "decide FILE | - | [flags] -- CMD…",
		Short: "Say what would happen to a request, and run nothing",
		Long: `Judges a request by the policies of the configuration and prints the decision.
Nothing is run, no sidecar is needed, and every configured backend counts as
ready. A warning says so where the sidecar is rolled back to other policies, or where
no sidecar found that the policies pass their checks. The request is the
JSON that agents send, from a file or standard input (flags that are given replace what
it says), or a command after --.

With --explain it says which rules made the decision, where they stand and on what
they looked, and which one condition kept from speaking, with what was there instead.

Exit status: 0 allow, 2 ask, 3 deny, 1 if the request could not be judged.`,
		Example: `  bailiff decide --platform telegram -- curl https://example.com
  bailiff decide --output json request.json
  bailiff decide --explain --platform slack -- rm -rf build
  bailiff decide --history history.json --backend local -- sh i.sh`,
		RunE: func(cmd *cobra.Command, args []string) error { return q.answer(cmd, *configPath, args) },
	}
	q.who.Register(cmd)
	cli.OutputFlag(cmd, &q.format)
	cmd.Flags().StringVar(&q.history, "history", "",
		"judge as if the session had done before what a `file` says: JSON as in input.session_history")
	cmd.Flags().BoolVar(&q.explained, "explain", false, "say how the decision came about")
	return cmd
}

// question is "bailiff decide" as its flags order it.
type question struct {
	who       cli.Claim
	format    string
	explained bool
	history   string
}

func (q *question) answer(cmd *cobra.Command, configPath string, args []string) error {
	debug.SetGCPercent(cli.ShortRunGC)
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	req, err := readRequest(cmd, &q.who, args)
	if err != nil {
		return err
	}
	judge, err := offline.Open(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	if q.history != "" {
		before, err := readHistory(q.history)
		if err != nil {
			return err
		}
		judge.After(before)
	}
	for _, word := range []string{offline.RolledBack(cfg), judge.TestWarning()} {
		if word != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: warning: %s\n", termsafe.Text(word))
		}
	}
	d := judge.Decide(cmd.Context(), req)
	if q.explained {
		x := judge.Explain(cmd.Context(), req, d)
		err = cli.Show(cmd, q.format, x, func(w io.Writer) { printDecision(w, x.Decision); PrintExplanation(w, x.Explanation) })
	} else {
		err = cli.Show(cmd, q.format, d, func(w io.Writer) { printDecision(w, d) })
	}
	return cmp.Or(err, OutcomeStatus(d.Outcome))
}

// OutcomeStatus is the exit status that tells an outcome; nil for allow.
func OutcomeStatus(o bailiff.Outcome) error {
	switch o {
	case bailiff.Allow:
		return nil
	case bailiff.Ask:
		return cli.Status(2)
	}
	return cli.Status(3)
}

// readRequest takes the request from a file, or from the flags and arguments.
func readRequest(cmd *cobra.Command, who *cli.Claim, args []string) (bailiff.Request, error) {
	if cmd.ArgsLenAtDash() >= 0 || who.Code != "" {
		return who.Request(args)
	}
	if len(args) != 1 {
		return bailiff.Request{}, errors.New("give one FILE with a request (- is standard input), or a command after --")
	}
	text, err := readInput(cmd, args[0])
	if err != nil {
		return bailiff.Request{}, fmt.Errorf("reading the request: %w", err)
	}
	req, err := gateway.ParseRequest(text)
	if err != nil {
		return req, fmt.Errorf("reading the request: %w", err)
	}
	who.Override(cmd.Flags(), &req)
	return req, nil
}

// readHistory takes what a session did from a file.
func readHistory(file string) (*bailiff.SessionHistory, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the user names it
	if err != nil {
		return nil, fmt.Errorf("reading a session's history: %w", err)
	}
	return past.Parse(text)
}

func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(name)
}

func printDecision(w io.Writer, d bailiff.Decision) {
	fmt.Fprintf(w, "outcome\t%s\n", d.Outcome)
	for _, r := range d.Reasons() {
		fmt.Fprintf(w, "reason\t%s\t%s\n", r.Rule, strings.TrimSpace(r.Message+" "+r.Match))
		if r.Instead != "" {
			fmt.Fprintf(w, "instead\t\t%s\n", r.Instead)
		}
	}
	for _, rule := range d.Observed {
		fmt.Fprintf(w, "observed\t%s\twithout the table observe the outcome is %s\n", rule, d.WithoutObserve)
	}
	if d.Backend.Name != "" {
		b, runtime := d.Backend, ""
		if b.Runtime != "" {
			runtime = "runtime " + b.Runtime + ", "
		}
		fmt.Fprintf(w, "backend\t%s\timage %q, %sscope %s, network %s\n", b.Name, b.Image, runtime, b.Scope, b.Network)
	}
	if len(d.Env.Forward) > 0 {
		fmt.Fprintf(w, "variables\t%s\n", strings.Join(d.Env.Forward, " "))
	}
	for _, swapped := range d.Env.Swap {
		fmt.Fprintf(w, "stand-in\t%s\tits value is put in at %s\n", swapped.Name, strings.Join(swapped.Hosts, " "))
	}
	for _, held := range d.Env.Withheld {
		fmt.Fprintf(w, "withheld\t%s\t%s\n", held.Name, held.Rule)
	}
	fmt.Fprintf(w, "limits\t%d s\t%d bytes of output\n", d.Limits.TimeoutSeconds, d.Limits.OutputBytes)
	fmt.Fprintf(w, "policies\t%s\n", d.Revision)
}
