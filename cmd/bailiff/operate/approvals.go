// Package operate has the commands with which operators watch and steer a running sidecar: approvals, freezes, sandboxes, policies
// in force, chats, its status, and the login by which they are known.
//
// Promised is that each asks the operators' API and nothing else. Not here: what needs no sidecar (package policy), and the
// decision log (package auditlog).
package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewApprovals is "bailiff approvals".
func NewApprovals(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "See and answer what waits for approval, and revoke grants",
		Long: `Shows and answers what waits for a person's approval. Any beginning of an id that is
unique among those that wait will do, from three characters on.

Exit status: see the subcommands.`,
	}
	cmd.AddCommand(newApprovalsList(configPath), newApprovalsShow(configPath), newApprovalsApprove(configPath),
		newApprovalsDeny(configPath),
		newApprovalsWatch(configPath), newApprovalsGrants(configPath), newApprovalsRevoke(configPath))
	cli.NamingOne(cmd)
	return cmd
}

func newApprovalsList(configPath *string) *cobra.Command {
	var format, state string
	var q api.Query
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what waits for approval, the oldest first",
		Long: "Lists what waits for approval, the oldest first, or with --state what became of others.\n\nExit status: 0, or 1 " +
			"if no sidecar answers.",
		Example: `  bailiff approvals list
  bailiff approvals list --state denied --user telegram:42 --output json`,
		Args: cobra.NoArgs,
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
			if q.State = bailiff.ApprovalState(state); state == "all" {
				q.State = ""
			}
			list, more, err := listed(cmd.Context(), operator, q)
			if err != nil {
				return err
			}
			return cli.Show(cmd, format, list, func(w io.Writer) { printApprovals(w, list, more) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "pending", "pending, approved, denied, expired, void, cancelled or all")
	f.StringVar(&q.Session, "session", "", "only those of the session with this `id`")
	f.StringVar(&q.User, "user", "", "only those of the user with this `id`, or platform:id")
	f.IntVar(&q.Limit, "limit", 100, "how many at most")
	cli.OutputFlag(cmd, &format)
	return cmd
}

// pageOfApprovals is how many are asked for at once.
const pageOfApprovals = 500

// listed asks for as many pages as it takes; more says that there are others.
func listed(ctx context.Context, operator *client.Client, q api.Query) (list []api.Entry, more bool, err error) {
	most := q.Limit
	if most < 1 {
		return nil, false, fmt.Errorf("--limit is %d, want at least 1", most)
	}
	list = []api.Entry{}
	for {
		q.Limit = min(most-len(list), pageOfApprovals)
		page, err := operator.Approvals(ctx, q)
		if err != nil {
			return nil, false, err
		}
		list = append(list, page.Approvals...)
		if q.After = page.Next; q.After == "" || len(list) >= most {
			return list, q.After != "", nil
		}
	}
}

func printApprovals(w io.Writer, list []api.Entry, more bool) {
	fmt.Fprintln(w, "ID\tSTATE\tLEFT\tUSER\tBACKEND\tWHAT")
	for _, e := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.State, left(e), account(e.Request.Session), e.Decision.Backend.Name,
			what(e.Request, 60))
	}
	if more {
		fmt.Fprintf(w, "There are more: --limit says how many are listed.\n")
	}
}

// left is how long an approval can still be answered.
func left(e api.Entry) string {
	if e.State != bailiff.ApprovalPending {
		return "-"
	}
	return max(time.Until(e.Expires), 0).Round(time.Second).String()
}

func account(s bailiff.Session) string {
	return termsafe.Text(s.Platform + ":" + s.UserID)
}

// what is a request in so many characters.
func what(r bailiff.Request, most int) string {
	switch r.Tool {
	case bailiff.ExecuteCode:
		return "python: " + termsafe.Brief(r.Args.Code, most)
	case bailiff.Process:
		return termsafe.Brief(strings.TrimSpace("process "+r.Args.Action+" "+r.Args.ProcessID+" "+r.Args.Data), most)
	case bailiff.MCP:
		return termsafe.Brief("mcp "+r.Args.Server+" "+r.Args.Name+" "+r.Args.Arguments, most)
	case bailiff.Call:
		return termsafe.Brief("call "+r.Args.Name+" "+r.Args.Arguments, most)
	}
	return termsafe.Brief(r.Args.Command, most)
}

func newApprovalsApprove(configPath *string) *cobra.Command {
	var as api.Approving
	var lasts time.Duration
	var sure bool
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Say yes",
		Long: `Says yes to what waits for approval: once for this very request, session for what it
was asked for during a while of this session, always for this user until it is
revoked. Which of them are offered is for the policies to say.

With --match the yes for a session or for always holds for a pattern of the request's
words: "rm -r *" for each "rm -r" of one more word that is no option, no address and no
path out of the folder. It ends with the policies, and after 30 days. Without --yes
nothing is answered: it says how many of the user's last requests would have run.

With --for the yes holds no longer than that, with --times for no more requests; both
without --scope mean the session, --times 1 means once. What is longer than the policies
let it hold is refused.

Exit status: 0 if the answer was taken, or the preview is shown, 1 if not.`,
		Example: `  bailiff approvals approve a-7k2
  bailiff approvals approve a-7k2 --scope session
  bailiff approvals approve a-7k2 --for 20m --times 5
  bailiff approvals approve a-7k2 --scope session --match 'rm -r *' --yes`,
		Args: cli.OneID("approval"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as.Match != "" && !sure {
				return cli.AtOperator(configPath, previewing(as.Match))(cmd, args)
			}
			if as.ForSeconds = int(lasts / time.Second); lasts != 0 && as.ForSeconds < 1 {
				return fmt.Errorf("--for is %s, want at least 1s", lasts)
			}
			if cmd.Flags().Changed("times") && as.Times < 1 {
				return fmt.Errorf("--times is %d, want at least 1", as.Times)
			}
			return answerApproval(cmd, *configPath, args[0], func(operator *client.Client, id string) (api.Entry, error) {
				return operator.ApproveAs(cmd.Context(), id, as)
			})
		},
	}
	f := cmd.Flags()
	f.DurationVar(&lasts, "for", 0, "how long the yes holds at most, as 20m or 2h (default: as long as the policies let it)")
	f.IntVar(&as.Times, "times", 0, "for how many requests it holds at most")
	f.StringVar(&as.Scope, "scope", "", "once, session or always (default: the narrowest that is offered)")
	f.StringVar(&as.Match, "match", "", "a `pattern` of the request's words that the yes holds for")
	f.BoolVar(&sure, "yes", false, "approve the pattern, and not only show what it would have covered")
	return cmd
}

// previewing shows what a pattern would have covered.
func previewing(match string) func(cmd *cobra.Command, operator *client.Client, args []string) error {
	return func(cmd *cobra.Command, operator *client.Client, args []string) error {
		id, err := approvalID(cmd.Context(), operator, args[0])
		if err != nil {
			return err
		}
		p, err := operator.Preview(cmd.Context(), id, match)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s would have covered %d of the last %d requests of this user that were asked about; "+
			"approve it with --yes\n", id, termsafe.Text(p.Match), p.Covered, p.Of)
		return err
	}
}

func newApprovalsDeny(configPath *string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Say no",
		Long:    "Says no to what waits for approval, which settles it.\n\nExit status: 0 if the answer was taken, 1 if not.",
		Example: "  bailiff approvals deny a-7k2 --reason 'not on a Friday'",
		Args:    cli.OneID("approval"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return answerApproval(cmd, *configPath, args[0], func(operator *client.Client, id string) (api.Entry, error) {
				return operator.Deny(cmd.Context(), id, reason)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "a `text` that is told to the agent that asked")
	return cmd
}

func answerApproval(cmd *cobra.Command, configPath, given string, answer func(operator *client.Client, id string) (api.Entry,
	error)) error {
	operator, err := cli.OperatorClient(cmd.ErrOrStderr(), configPath)
	if err != nil {
		return err
	}
	id, err := approvalID(cmd.Context(), operator, given)
	if err != nil {
		return err
	}
	e, err := answer(operator, id)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n  %s\n", e.ID, termsafe.Text(e.Message), what(e.Request, 200))
	return err
}

const (
	// wholeID is how long an id is.
	wholeID = len("a-") + 10
	// leastID is how much of one must be given.
	leastID = 3
)

// approvalID is the id that begins as given; those that wait come first.
func approvalID(ctx context.Context, operator *client.Client, given string) (string, error) {
	begin, whole, err := beginning("a-", given)
	if err != nil || whole {
		return begin, err
	}
	for _, state := range []bailiff.ApprovalState{bailiff.ApprovalPending, ""} {
		var found []string
		for q := (api.Query{State: state, Limit: pageOfApprovals}); ; {
			page, err := operator.Approvals(ctx, q)
			if err != nil {
				return "", err
			}
			for _, e := range page.Approvals {
				found = append(found, e.ID)
			}
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if id, err := theOne("approval", begin, found); err != nil || id != "" {
			return id, err
		}
	}
	return "", fmt.Errorf("no approval's id begins with %q; \"bailiff approvals list\" shows those that wait", termsafe.Text(given))
}

// beginning is how an id begins that a person gives, and whether it is all of it.
func beginning(kind, given string) (begin string, whole bool, err error) {
	begin = strings.ToLower(strings.TrimSpace(given))
	if kind == "a-" && strings.HasPrefix(begin, "g-") {
		return "", false, fmt.Errorf("%q is a grant's id, want an approval's, as in a-7k2; \"bailiff approvals grants\" lists "+
			"grants", termsafe.Text(given))
	}
	if kind == "g-" && strings.HasPrefix(begin, "a-") {
		return "", false, fmt.Errorf("%q is an approval's id, want a grant's, as in g-x4t; \"bailiff approvals grants\" lists "+
			"grants", termsafe.Text(given))
	}
	if !strings.HasPrefix(begin, kind) {
		begin = kind + begin
	}
	if len(begin) < len(kind)+leastID {
		return "", false, fmt.Errorf("%q is too little of an id, want at least %d characters", termsafe.Text(given), leastID)
	}
	return begin, len(begin) >= wholeID, nil
}

// theOne is the id that begins so; empty if none does.
func theOne(thing, begin string, ids []string) (string, error) {
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, begin) })
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("more than one %s's id begins with %s: %s; give more of it", thing, begin,
		strings.Join(ids[:min(len(ids), 5)], ", "))
}

func newApprovalsGrants(configPath *string) *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "grants",
		Short: "List what may run without asking again",
		Long: `Lists what approvals have left behind, the oldest first.

Exit status: 0, or 1 if no sidecar answers.`,
		Example: "  bailiff approvals grants --output json",
	}, configPath, (*client.Client).Grants, printGrants)
}

func printGrants(w io.Writer, list []api.Grant) {
	fmt.Fprintln(w, "ID\tSCOPE\tUSER\tSESSION\tBACKEND\tENDS\tUSED\tBY\tFOR")
	for _, g := range list {
		ends := "when revoked"
		if !g.Expires.IsZero() {
			ends = "in " + max(time.Until(g.Expires), 0).Round(time.Second).String()
		}
		used := strconv.Itoa(g.Uses)
		if g.Times > 0 {
			used = fmt.Sprintf("%d of %d", g.Uses, g.Times)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g.ID, g.Scope, termsafe.Text(g.Platform+":"+g.User),
			termsafe.Text(within(g)),
			g.Backend, ends, used, termsafe.Text(g.By), termsafe.Brief(covers(g), 80))
	}
}

// within is the session that a grant is for, and the one of its agents.
func within(g api.Grant) string {
	of := g.Session
	if g.Agent != "" {
		of += " agent " + g.Agent
	}
	if g.CoversAgents {
		of += " and agents that it starts"
	}
	return strings.TrimSpace(of)
}

// covers says what a grant lets run.
func covers(g api.Grant) string {
	if g.Digest != "" {
		return "the request of " + g.ApprovalID
	}
	if g.Match != "" {
		return "the words " + g.Match
	}
	pairs := make([]string, len(g.Pairs))
	for i, p := range g.Pairs {
		pairs[i] = p.Rule + " " + p.Match
	}
	return strings.Join(pairs, ", ")
}

func newApprovalsRevoke(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke GRANT",
		Short:   "End a grant",
		Long:    "Ends a grant; what it let run must be asked for again.\n\nExit status: 0 if it is revoked, 1 if not.",
		Example: "  bailiff approvals revoke g-x4t",
		Args:    cli.OneID("grant"),
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, args []string) error {
			id, err := grantID(cmd.Context(), operator, args[0])
			if err != nil {
				return err
			}
			g, err := operator.Revoke(cmd.Context(), id)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: revoked, %s for %s\n", g.ID, g.Scope, termsafe.Brief(covers(g), 200))
			return err
		}),
	}
}

func grantID(ctx context.Context, operator *client.Client, given string) (string, error) {
	begin, whole, err := beginning("g-", given)
	if err != nil || whole {
		return begin, err
	}
	grants, err := operator.Grants(ctx)
	if err != nil {
		return "", err
	}
	ids := make([]string, len(grants))
	for i, g := range grants {
		ids[i] = g.ID
	}
	id, err := theOne("grant", begin, ids)
	if err == nil && id == "" {
		err = errors.New("no grant's id begins with " + termsafe.Text(begin) + "; \"bailiff approvals grants\" lists them")
	}
	return id, err
}
