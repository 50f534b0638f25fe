package policy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/corpus"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// tally counts the cases of one theme.
type tally struct {
	theme            string
	cases            int
	deny, ask, allow int
	wrong            []string
}

// corpusTimeout is for one case. What the cases say is no matter of time, so a busy
// machine may take some.
const corpusTimeout = 10 * time.Second

// DemoCorpus judges every case of the corpus by the shipped policies.
func DemoCorpus(ctx context.Context, w io.Writer) error {
	cases, err := corpus.Cases()
	if err != nil {
		return err
	}
	cfg := config.Default(catalogue.All())
	cfg.Policies.EvalTimeout = corpusTimeout
	policies, err := offline.OpenPolicies(ctx, cfg)
	if err != nil {
		return err
	}
	return tell(ctx, w, policies, cases)
}

// tell judges cases, and fails where any is not decided as it says.
func tell(ctx context.Context, w io.Writer, policies *pdp.PDP, cases []corpus.Case) error {
	var tallies []*tally
	for _, c := range cases {
		if len(tallies) == 0 || tallies[len(tallies)-1].theme != c.Theme {
			tallies = append(tallies, &tally{theme: c.Theme})
		}
		tallies[len(tallies)-1].count(c, policies.Decide(ctx, corpusRequest(c), corpusCircumstances(c)).Decision)
	}
	return printTallies(w, len(cases), tallies)
}

func corpusRequest(c corpus.Case) bailiff.Request {
	req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: c.Command},
		Session: bailiff.Session{ID: "corpus", Platform: c.Platform, ChatType: "dm"}}
	if c.Code != "" {
		req.Tool, req.Args = bailiff.ExecuteCode, bailiff.Args{Code: c.Code}
	}
	return req
}

// corpusCircumstances configures the backend that a case is about: the host for
// cli, a sandbox for chats.
func corpusCircumstances(c corpus.Case) bailiff.Circumstances {
	name := "docker"
	if c.Platform == "cli" {
		name = "local"
	}
	return bailiff.Circumstances{Time: time.Now(),
		Backends: map[string]bailiff.BackendState{name: {Isolated: name == "docker", Ready: true}}}
}

func (t *tally) count(c corpus.Case, d bailiff.Decision) {
	t.cases++
	switch d.Outcome {
	case bailiff.Deny:
		t.deny++
	case bailiff.Ask:
		t.ask++
	case bailiff.Allow:
		t.allow++
	}
	spoke := func(r bailiff.Reason) bool { return r.Rule == c.Rule }
	if d.Outcome != c.Outcome || c.Rule != "" && !slices.ContainsFunc(d.Reasons(), spoke) {
		t.wrong = append(t.wrong, fmt.Sprintf("want %s %s, is %s %s: %s", c.Outcome, c.Rule, d.Outcome, RuleNames(d),
			Short(OneLine(c.Command+c.Code), 80)))
	}
}

func printTallies(w io.Writer, cases int, tallies []*tally) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "THEME\tCASES\tDENY\tASK\tALLOW\tNOT AS EXPECTED")
	wrong := 0
	for _, t := range tallies {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\n", t.theme, t.cases, t.deny, t.ask, t.allow, len(t.wrong))
		wrong += len(t.wrong)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, t := range tallies {
		for _, text := range t.wrong {
			fmt.Fprintf(w, "%s: %s\n", t.theme, text)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d cases were not decided as the corpus says", wrong, cases)
	}
	fmt.Fprintf(w, "all %d cases were decided as the corpus says\n", cases)
	return nil
}

// RuleNames are the rules of a decision, in a line.
func RuleNames(d bailiff.Decision) string {
	var rules []string
	for _, r := range d.Reasons() {
		rules = append(rules, r.Rule)
	}
	return strings.Join(slices.Compact(rules), " ")
}

// OneLine is a text with its white space as single spaces.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Short is the beginning of a text, in at most so many characters.
func Short(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
