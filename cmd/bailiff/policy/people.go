package policy

import (
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/app"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewPeople is "bailiff people".
func NewPeople(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "people",
		Short: "Say what a person may, and why",
		Long:  "Says what the policies let a person of the configuration do, by each of their accounts.",
	}
	cmd.AddCommand(newPeopleShow(configPath))
	return cmd
}

func newPeopleShow(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Say what a person may, and why",
		Long: `Judges a command that does nothing, as if NAME had sent it by each of their accounts, and
prints what the policies of the configuration let it have: the roles and what gives them, the
backends, the network, the variables, and the words of the roles on findings. NAME is a person
under people of bailiff.yaml, or an account that none of them has, as telegram/99. Nothing is run, and
every configured backend counts as ready. Groups of an OpenID provider are those that it said at
the person's last login, where this user may read the state folder.

Exit status: 0, or 1 if there is no such person or the policies could not be asked.`,
		Example: "  bailiff people show ana\n  bailiff people show telegram/99",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			debug.SetGCPercent(cli.ShortRunGC)
			cfg, err := offline.LoadConfig(*configPath)
			if err != nil {
				return err
			}
			judge, err := offline.Open(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if logins, err := app.Logins(cfg); err == nil {
				judge.Knows(logins)
			} else {
				fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: warning: groups of the OpenID provider are not known: %s\n",
					termsafe.Text(err.Error()))
			}
			rights, err := judge.Rights(cmd.Context(), cfg, args[0])
			if err != nil {
				return err
			}
			return cli.Show(cmd, format, rights, func(w io.Writer) {
				for _, r := range rights {
					printRights(w, r)
				}
			})
		},
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

func printRights(w io.Writer, r offline.Rights) {
	line := func(what, which, said string) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", what, termsafe.Text(which), termsafe.Text(said))
	}
	who := r.Person
	if who == "" {
		who = "nobody in people"
	}
	line("from", r.Platform+"/"+r.User, who)
	if len(r.Roles) == 0 {
		line("role", "none", "what all may")
	}
	for _, role := range slices.Sorted(maps.Keys(r.Roles)) {
		line("role", role, "by "+strings.Join(r.Roles[role], ", "))
	}
	if r.Outcome == bailiff.Deny {
		line("may run", "nothing", reasons(r.Denials))
		return
	}
	line("may run on", strings.Join(r.Backends, " "), "")
	for _, name := range slices.Sorted(maps.Keys(r.BackendsDenied)) {
		line("not on", name, reasons(r.BackendsDenied[name]))
	}
	line("network", r.Network, strings.Join(r.Egress, " "))
	for _, v := range r.Variables {
		line("variable", v.Name, variableWords(v))
	}
	for _, rule := range slices.Sorted(maps.Keys(r.Verdicts)) {
		line("verdict", rule, strings.Join(r.Verdicts[rule], ", ")+" at least")
	}
	for _, b := range r.Budgets {
		line("budget", b.Name, fmt.Sprintf("%d %s, per %s, in each %s", b.Most, b.Count, b.Per, b.Window))
	}
}

// reasons are the denials in one line; a platform that has no use for a backend says nothing.
func reasons(denials []bailiff.Reason) string {
	if len(denials) == 0 {
		return "not a backend of this platform"
	}
	said := make([]string, len(denials))
	for i, d := range denials {
		said[i] = d.Rule + ": " + d.Message
	}
	return strings.Join(said, " ")
}

func variableWords(v offline.VariableRight) string {
	switch {
	case v.Withheld != "":
		return "withheld (" + v.Withheld + ")"
	case len(v.Programs) > 0 && v.Own:
		return "their own value, with " + strings.Join(v.Programs, " ")
	case len(v.Programs) > 0:
		return "with " + strings.Join(v.Programs, " ")
	case v.Own:
		return "their own value"
	}
	return "with any program"
}
