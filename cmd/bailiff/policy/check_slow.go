package policy

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/corpus"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// slowReport says what the rules of policies take of a judgement.
type slowReport struct {
	// Requests are the cases of the corpus that were judged, Microseconds what one took.
	Requests     int        `json:"requests"`
	Microseconds float64    `json:"us"`
	Rules        []pdp.Cost `json:"rules"`
}

// One case in so many is judged, and so many rules are listed.
const (
	oneCaseIn    = 4
	mostSlowRows = 25
)

func checkSlow(cmd *cobra.Command, configPath, format string) error {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	report, err := slow(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	return cli.Show(cmd, format, report, report.print)
}

func slow(ctx context.Context, cfg *config.Config) (slowReport, error) {
	cfg.Policies.EvalTimeout, cfg.Policies.RequireTests = corpusTimeout, false
	policies, err := offline.OpenPolicies(ctx, cfg)
	if err != nil {
		return slowReport{}, err
	}
	cases, err := corpus.Cases()
	if err != nil {
		return slowReport{}, err
	}
	var requests []bailiff.Request
	for i := 0; i < len(cases); i += oneCaseIn {
		requests = append(requests, corpusRequest(cases[i]))
	}
	at := bailiff.Circumstances{Time: time.Now(), Backends: map[string]bailiff.BackendState{}}
	for name, section := range cfg.Backends {
		at.Backends[name] = bailiff.BackendState{Isolated: section.Isolated(), Ready: true}
	}
	rules, each, err := policies.Costs(ctx, requests, at)
	return slowReport{len(requests), float64(each.Nanoseconds()) / 1000, rules[:min(len(rules), mostSlowRows)]}, err
}

func (r slowReport) print(w io.Writer) {
	fmt.Fprintf(w, "an evaluation takes %.0f µs, by %d texts of the corpus\n\nµs\tRULE\tFILE\n", r.Microseconds, r.Requests)
	for _, c := range r.Rules {
		fmt.Fprintf(w, "%.1f\t%s\t%s:%d\n", c.Microseconds, c.Rule, c.File, c.Line)
	}
}
