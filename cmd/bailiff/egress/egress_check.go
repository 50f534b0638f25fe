package egress

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/policy"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

func newEgressCheck(configPath *string) *cobra.Command {
	var who cli.Claim
	var method, path, format string
	cmd := &cobra.Command{
		Use:   "check HOST[:PORT]",
		Short: "Say what would become of a connection, and look nothing up",
		Long: `Judges a connection of an ordinary request of a session by the policies of the
configuration: whether it would be opened, asked about or refused, by which rules, and
which rows the host has, each with its file and line and whether it fits. With --method and --path it judges a
request on the connection too. Without PORT it is 443. No sidecar is needed, and no name
is looked up: the address that a name stands for may still be refused.

Exit status: 0 opened, 2 asked about, 3 refused, 1 if it could not be judged.`,
		Example: `  bailiff egress check pypi.org
  bailiff egress check github.com --platform telegram --method POST --path /acme/site/git-receive-pack`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give one host, such as pypi.org or db.corp:5432")
			}
			to, err := destination(args[0], method, path)
			if err != nil {
				return err
			}
			cfg, err := offline.LoadConfig(*configPath)
			if err != nil {
				return err
			}
			judge, err := offline.Open(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if word := offline.RolledBack(cfg); word != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: warning: %s\n", termsafe.Text(word))
			}
			reached := judge.Reach(cmd.Context(), who.Who(), to)
			return cmp.Or(cli.Show(cmd, format, reached, func(w io.Writer) { printReached(w, reached) }),
				policy.OutcomeStatus(reached.Outcome))
		},
	}
	who.RegisterWho(cmd, "platform and user")
	cmd.Flags().StringVar(&method, "method", "", "judge a request with this method (default: GET, where --path is given)")
	cmd.Flags().StringVar(&path, "path", "", "judge a request for this path (default: /, where --method is given)")
	cli.OutputFlag(cmd, &format)
	return cmd
}

// destination reads what the arguments and flags name.
func destination(written, method, path string) (to offline.Destination, err error) {
	if to.To, err = hostAndPort(written); err != nil {
		return to, fmt.Errorf("reading %s: %w", termsafe.Text(written), err)
	}
	if method == "" && path == "" {
		return to, nil
	}
	path = cmp.Or(path, "/")
	if !strings.HasPrefix(path, "/") {
		return to, fmt.Errorf("--path is %q, want one that begins with /", path)
	}
	to.Request, err = http.NewRequest(cmp.Or(method, http.MethodGet), "https://"+to.To.String()+path, http.NoBody)
	return to, err
}

func hostAndPort(written string) (to reach.Target, err error) {
	if strings.Contains(written, ":") && !strings.HasSuffix(written, "]") {
		return reach.ParseTarget(written)
	}
	to.Host, err = reach.ParseHost(written)
	to.Port = 443
	return to, err
}

func printReached(w io.Writer, r offline.Reached) {
	fmt.Fprintf(w, "outcome\t%s\n", r.Outcome)
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "reason\t%s\t%s\n", reason.Rule, termsafe.Text(strings.TrimSpace(reason.Message+" "+reason.Match)))
		if reason.Instead != "" {
			fmt.Fprintf(w, "instead\t\t%s\n", termsafe.Text(reason.Instead))
		}
	}
	fmt.Fprintf(w, "sandbox\t%s\t%s\n", cmp.Or(r.Backend, "none"), termsafe.Text(network(r)))
	for _, list := range r.Lists {
		fmt.Fprintf(w, "list\t%s:%d\t%s\n", termsafe.Text(list.File), list.Line, termsafe.Text(list.Name))
	}
	if r.Protocol != "" {
		fmt.Fprintf(w, "speaks\t%s\t%s\n", r.Protocol, judged(r))
	}
	for _, row := range r.Rows {
		fmt.Fprintf(w, "row\t%s:%d\t%s %s", termsafe.Text(row.File), row.Line, termsafe.Text(row.Host), termsafe.Text(string(row.Row)))
		if row.Fits != "" {
			fmt.Fprintf(w, ": %s", row.Fits)
		}
		fmt.Fprintln(w)
	}
	policy.PrintExplanation(w, explain.Explanation{Fired: r.Fired, Fault: r.Fault})
	fmt.Fprintf(w, "policies\t%s\n", r.Revision)
}

func network(r offline.Reached) string {
	switch r.Network {
	case backends.Egress:
		return "network egress, which may reach " + cmp.Or(strings.Join(r.Egress, " "), "nothing")
	case "full":
		return "network full, whose connections are not judged"
	}
	return "network " + cmp.Or(r.Network, "none")
}

func judged(r offline.Reached) string {
	if r.Intercepted {
		return "each request is judged"
	}
	return "requests are not judged"
}
