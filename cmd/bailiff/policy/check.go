package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/operate"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/bundle"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewCheck is "bailiff check".
func NewCheck(configPath *string) *cobra.Command {
	var format string
	var isSlow bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and the policies",
		Long: `Checks the configuration, the policies it names, that the policies use the input
as its schema describes it, and that their tables say what policies look up. Looks,
too, at what backends will use: the runner, files of credentials, keys and certificates,
images, folders. So run it as the sidecar's user; a variable that is not set here only warns.
Prints every fault as file:line and says what would be right. It runs no tests: see "bailiff test".
It warns of hooks in the settings of your Claude Code and Codex that would let tools run unjudged.
Of policies that come from a server it checks the bundle that the sidecar kept last.
With --slow it lists instead the rules that take most of a judgement, with their places.

Exit status: 0 if all is well, 1 if anything is not, 2 if nothing is wrong in what could
be checked, and the policies could not: no bundle of the server was kept yet.`,
		Example: "  bailiff check --config /etc/bailiff/bailiff.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(cli.ShortRunGC)
			if isSlow {
				return checkSlow(cmd, *configPath, format)
			}
			report, err := check(cmd.Context(), *configPath)
			if err != nil {
				return err
			}
			for _, line := range report.lines(format) {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			if err := cli.Show(cmd, format, report, report.print); err != nil {
				return err
			}
			return report.status()
		},
	}
	cli.OutputFlag(cmd, &format)
	cmd.Flags().BoolVar(&isSlow, "slow", false, "list the rules that take most of a judgement, by texts of bailiff's own corpus")
	return cmd
}

// checkReport is what is wrong, and what deserves a second look.
type checkReport struct {
	Sound    bool         `json:"sound"`
	Faults   []checkFault `json:"faults"`
	Warnings []string     `json:"warnings"`
	// Exposed says of platforms and chats whose sandboxes are open to a network, or to a
	// folder of the host, how far.
	Exposed []string `json:"exposed"`
	// Unchecked says what could not be checked, and why: that is not sound either.
	Unchecked string `json:"unchecked,omitempty"`
}

// checkFault is one fault with its place; Line is zero where it is the whole
// file's, Key empty where it is not about a key of the configuration.
type checkFault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Key     string `json:"key"`
	Message string `json:"message"`

	text string
}

// check looks at the configuration and, if it can be used, at its policies. The
// error says that there is none to look at.
func check(ctx context.Context, configPath string) (checkReport, error) {
	report := checkReport{Faults: []checkFault{}, Warnings: []string{}, Exposed: []string{}}
	path, err := config.Find(configPath)
	if err != nil {
		return report, err
	}
	cfg, outlook, err := config.Check(path, catalogue.All())
	var faults config.Faults
	if errors.As(err, &faults) {
		report.add(faults)
		return report, nil
	}
	if err != nil {
		return report, err
	}
	report.add(outlook.Faults)
	policies := report.checkPolicies(cfg)
	if path == "" {
		report.Warnings = append(report.Warnings,
			"there is no configuration: none is named by --config or BAILIFF_CONFIG, none stands in the usual places, so the "+
				"defaults were checked")
	}
	for _, doubt := range outlook.Doubts {
		report.Warnings = append(report.Warnings, doubt.Error())
	}
	if _, err := runner.Find(""); err != nil && cfg.Runner.Path == "" {
		report.Warnings = append(report.Warnings, err.Error())
	}
	report.Warnings = append(append(report.Warnings, cfg.Warnings()...), unfitHooks(cfg)...)
	if report.Sound = len(report.Faults) == 0 && report.Unchecked == ""; report.Sound {
		report.lookOutside(ctx, cfg, policies)
	}
	return report, nil
}

// unfitHooks says which hooks of this user's agents would let tools run unjudged.
func unfitHooks(cfg *config.Config) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // a user without a home has no agents
	}
	return agents.Unfit(settings.Entry{Listen: cli.ListenOf(cfg), Home: home, Getenv: os.Getenv})
}

// checkPolicies checks those that the configuration names; of a bundle the last one that
// the sidecar kept.
func (r *checkReport) checkPolicies(cfg *config.Config) (policies *pdp.PDP) {
	settings, err := offline.PolicySettings(cfg)
	if err == nil && cfg.Policies.Bundle != nil {
		settings.Archive, err = offline.LastArchive(cfg)
	}
	switch {
	case err == nil:
		var faults []source.Fault
		policies, faults = pdp.OpenChecked(settings)
		r.addPolicies(faults)
	case errors.Is(err, bundle.ErrNone):
		r.Unchecked = fmt.Sprintf("the policies of %s were not checked: the sidecar has kept none yet", cfg.Policies.Bundle.URL)
	default:
		r.addPolicies([]source.Fault{{Message: err.Error()}})
	}
	if len(cfg.Policies.Shadow) > 0 {
		r.addPolicies(pdp.Check(pdp.Config{Paths: cfg.Policies.Shadow}))
	}
	return policies
}

// lookOutside notes how far sandboxes are open.
func (r *checkReport) lookOutside(ctx context.Context, cfg *config.Config, policies *pdp.PDP) {
	judge, err := offline.Over(ctx, cfg, policies)
	if err != nil {
		r.Warnings = append(r.Warnings, "how far sandboxes are open was not looked at: "+err.Error())
		return
	}
	for _, s := range judge.OpenChats(ctx) {
		name := strings.TrimSuffix(s.Platform+"/"+s.Chat, "/")
		r.Exposed = append(r.Exposed, fmt.Sprintf("%s: sandboxes of %s are %s", termsafe.Text(name), s.Backend,
			strings.Join(operate.Openings(s.PlatformStatus), ", and ")))
	}
}

func (r *checkReport) addPolicies(faults []source.Fault) {
	for _, f := range faults {
		r.Faults = append(r.Faults, checkFault{f.File, f.Line, "", f.Message, f.String()})
	}
}

func (r *checkReport) add(faults config.Faults) {
	for _, f := range faults {
		r.Faults = append(r.Faults, checkFault{f.File, f.Line, f.Key, f.Message, f.Error()})
	}
}

// lines are for standard error, unless all of it is printed as JSON.
func (r checkReport) lines(format string) (lines []string) {
	if format == "json" {
		return nil
	}
	for _, f := range r.Faults {
		lines = append(lines, f.text)
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	if r.Unchecked != "" {
		lines = append(lines, r.Unchecked)
	}
	return lines
}

func (r checkReport) print(w io.Writer) {
	switch {
	case r.Sound:
		fmt.Fprintln(w, "configuration and policies are sound")
		for _, said := range r.Exposed {
			fmt.Fprintln(w, said)
		}
	case len(r.Faults) == 0:
		fmt.Fprintln(w, "the configuration is sound; its policies were not checked")
	}
}

func (r checkReport) status() error {
	switch {
	case r.Sound:
		return nil
	case len(r.Faults) == 0:
		return cli.Status(2)
	}
	return cli.Status(1)
}
