package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewStatus is "bailiff status".
func NewStatus(configPath *string) *cobra.Command {
	var format string
	var all bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the running sidecar: listeners, policies, backends, warnings, what is frozen",
		Long: `Shows the running sidecar's listeners, the revision of the policies in force and
whether the last reload failed, which backends are ready, where an ordinary
request of each platform that a listener speaks for, and of each chat that the tables
name, would run and how long its sandbox stays, what each chat service is for and
whether it reaches people, warnings, and what is frozen. With --wait a sidecar that is
starting has that long until it answers; one that could not start said why on its
standard error.

Exit status: 0, or 1 if no sidecar answers.`,
		Example: "  bailiff status --output json\n  bailiff serve & bailiff status --wait 1m",
		Args:    cobra.NoArgs,
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
			var s api.Status
			if err := cli.UntilAnswered(cmd.Context(), wait, func(ctx context.Context) (err error) {
				s, err = operator.Status(ctx)
				return err
			}); err != nil {
				return err
			}
			freezes, err := operator.Freezes(cmd.Context())
			if err != nil {
				return err
			}
			return cli.Show(cmd, format, shownStatus{s, freezes}, func(w io.Writer) {
				printStatus(w, s, all)
				printFreezes(w, freezes)
			})
		}),
	}
	cli.OutputFlag(cmd, &format)
	cmd.Flags().BoolVar(&all, "all", false, "show the platforms for which no listener speaks, too")
	cli.WaitFlag(cmd, &wait)
	return cmd
}

// shownStatus is what is shown as JSON.
type shownStatus struct {
	api.Status
	Freezes []api.Freeze `json:"freezes"`
}

// shownFaults is how many faults of the policies the table shows.
const shownFaults = 10

func printStatus(w io.Writer, s api.Status, all bool) {
	fmt.Fprintf(w, "bailiff\t%s\tup %s\n", s.Version, time.Since(s.Started).Round(time.Second))
	for _, l := range s.Listeners {
		fmt.Fprintf(w, "listener\t%s\t%s\t%s\n", l.Name, l.Listen, strings.Join(l.Platforms, " "))
	}
	if s.Console != "" {
		fmt.Fprintf(w, "console\t%s\t\"bailiff console\" prints a link that opens it\n", s.Console)
	}
	printPolicies(w, s.Policies)
	for _, b := range s.Backends {
		state := "ready"
		if !b.Ready {
			state = "not ready: " + b.Message
		}
		fmt.Fprintf(w, "backend\t%s\t%s\n", b.Name, state)
	}
	printPlatforms(w, s, all)
	for _, c := range s.Chats {
		fmt.Fprintf(w, "chat\t%s/%s\t%s\t%s\n", c.Platform, termsafe.Text(c.Chat), c.Place(),
			standing(c.PlatformStatus))
	}
	for _, c := range s.Chat {
		fmt.Fprintf(w, "service\t%s\t%s\t%s\n", c.Service, termsafe.Text(purpose(c)), termsafe.Text(reachOf(c)))
	}
	if e := s.Egress; e.Opened+e.Refused > 0 {
		way := "by the proxy alone"
		if e.Direct {
			way = "by the proxy or without it"
		}
		fmt.Fprintf(w, "egress\t%d open\t%d opened and %d refused since the start, %d bytes sent and %d received, %s\n", e.Open,
			e.Opened, e.Refused, e.Sent, e.Received, way)
	}
	for _, r := range s.Replicas {
		fmt.Fprintf(w, "replica\t%s\t%s\t%s\n", r.Name, cmp.Or(r.Address, "serves what comes to it"), stateOf(r))
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(w, "warning\t%s\n", warning)
	}
}

// printPlatforms leaves those out for which no listener speaks, and says that they are there.
func printPlatforms(w io.Writer, s api.Status, all bool) {
	var hidden []string
	for _, p := range s.Platforms {
		if all || isSpokenFor(s, p.Platform) {
			fmt.Fprintf(w, "platform\t%s\t%s\t%s\n", p.Platform, p.Place(), standing(p))
		} else {
			hidden = append(hidden, p.Platform)
		}
	}
	if len(hidden) > 0 {
		fmt.Fprintf(w, "platform\t%d more\tno listener speaks for %s; --all shows them\n", len(hidden), strings.Join(hidden, ", "))
	}
}

// isSpokenFor says whether requests of a platform may come: from an agent, or by commands in a chat.
func isSpokenFor(s api.Status, platform string) bool {
	byChat := slices.ContainsFunc(s.Chat, func(c api.ServiceStatus) bool { return c.Service == platform && c.Commands })
	return byChat || slices.ContainsFunc(s.Listeners, func(l api.ListenerStatus) bool { return l.SpeaksFor(platform) })
}

func printPolicies(w io.Writer, p api.PolicyStatus) {
	fmt.Fprintf(w, "policies\t%.12s\t%d files, in force since %s\n", p.Revision, len(p.Files),
		p.Loaded.Format(time.DateTime))
	for _, archive := range cli.Names(p.Bundles) {
		fmt.Fprintf(w, "bundle\t%s\t%s\n", archive, p.Bundles[archive].Revision)
	}
	faults := p.Faults
	for _, fault := range faults[:min(len(faults), shownFaults)] {
		fmt.Fprintf(w, "policies\tlast reload failed\t%s\n", fault)
	}
	if more := len(faults) - shownFaults; more > 0 {
		fmt.Fprintf(w, "policies\tlast reload failed\tand %d more faults: --output json has them all\n", more)
	}
}

// purpose says what an account at a chat service is for.
func purpose(c api.ServiceStatus) string {
	var all []string
	if c.Approvals {
		all = append(all, strings.TrimSuffix("approvals in "+c.At, " in "))
	}
	if c.Commands {
		all = append(all, "commands")
	}
	return strings.Join(all, ", ")
}

// reachOf says whether people are reached there.
func reachOf(c api.ServiceStatus) string {
	if c.Message != "" {
		return "reaches nobody: " + c.Message
	}
	return "connected"
}

// stateOf says how a sidecar is that shares the store.
func stateOf(r api.ReplicaStatus) string {
	words := r.State
	if r.State == "silent" {
		words = fmt.Sprintf("silent for %s", time.Duration(r.SilentSeconds)*time.Second)
	}
	if r.Self {
		words += ", this one"
	}
	return fmt.Sprintf("%s; serves %d sessions and users; policies %.12s", words, r.Homes, r.Revision)
}

// standing says how long a sandbox stays, or why there is none.
func standing(p api.PlatformStatus) string {
	if p.Message != "" {
		return p.Message
	}
	words := "goes after " + span(p.IdleSeconds) + " without use"
	if p.MaxSeconds > 0 {
		words += ", after " + span(p.MaxSeconds) + " in any case"
	}
	if p.Persistent {
		words += "; its files stay"
	}
	return strings.Join(append([]string{words}, Openings(p)...), "; ")
}

// Openings say how far a sandbox is open.
func Openings(p api.PlatformStatus) (words []string) {
	switch p.Network {
	case "":
	case "egress":
		words = append(words, "networked: "+termsafe.Text(cmp.Or(strings.Join(p.Egress, " "), "reaches nothing")))
	default:
		words = append(words, "networked: "+p.Network)
	}
	if len(p.Shared) > 0 {
		words = append(words, "shared: "+termsafe.Text(strings.Join(p.Shared, " ")))
	}
	return words
}

func span(seconds int) string {
	switch {
	case seconds%3600 == 0:
		return fmt.Sprintf("%dh", seconds/3600)
	case seconds%60 == 0:
		return fmt.Sprintf("%dm", seconds/60)
	}
	return (time.Duration(seconds) * time.Second).String()
}

func printFreezes(w io.Writer, freezes []api.Freeze) {
	for _, f := range freezes {
		fmt.Fprintf(w, "frozen\t%s\tby %s since %s\t%s\n", termsafe.Text(f.What()), termsafe.Text(f.By),
			f.At.Local().Format(time.DateTime), termsafe.Text(f.Reason))
	}
}
