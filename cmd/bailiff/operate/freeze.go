package operate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// target is what a freeze or thaw is about.
type target struct {
	session, user string
	all           bool
}

func (t *target) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.session, "session", "", "the session's `id`")
	f.StringVar(&t.user, "user", "", "the user's `id` on every platform, or platform:id")
	f.BoolVar(&t.all, "all", false, "everything")
	cmd.MarkFlagsMutuallyExclusive("session", "user", "all")
}

// freezing is what the flags name; false if they name nothing.
func (t *target) freezing() (f api.Freezing, named bool) {
	switch {
	case t.all:
		return api.Freezing{Kind: api.FreezeAll}, true
	case t.session != "":
		return api.Freezing{Kind: api.FreezeSession, ID: t.session}, true
	case t.user != "":
		return api.Freezing{Kind: api.FreezeUser, ID: t.user}, true
	}
	return f, false
}

// NewFreeze is "bailiff freeze".
func NewFreeze(configPath *string) *cobra.Command {
	var what target
	var reason string
	cmd := &cobra.Command{
		Use:   "freeze --session ID | --user ID | --all [--reason TEXT]",
		Short: "Stop what runs and deny what comes, until thawed",
		Long: `Stops what a session, a user or all users run, cancels what waits for approval,
revokes the grants, and denies everything until it is thawed; that survives
restarts. It asks nothing and returns when nothing runs any more.

Where several sidecars share a store, one that does not answer starts nothing new, and
what it runs may go on; so may a sandbox that could not be removed. These are named.

Exit status: 0 if it is frozen and nothing of it runs, 1 if it is not frozen, 2 if it is
frozen and something of it may go on.`,
		Example: `  bailiff freeze --all --reason 'a stranger writes in our chat'
  bailiff freeze --user telegram:42`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, named := what.freezing()
			if !named {
				return errors.New("say what to freeze: --session ID, --user ID or --all")
			}
			f.Reason = reason
			operator, err := cli.OperatorClient(cmd.ErrOrStderr(), *configPath)
			if err != nil {
				return err
			}
			frozen, err := operator.Freeze(cmd.Context(), f)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "frozen: %s; \"bailiff thaw %s\" lets it go on\n", termsafe.Text(frozen.What()),
				flagOf(f.Kind, f.ID))
			if frozen.Warning != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: warning: %s\n", termsafe.Text(frozen.Warning))
			}
			if err := tellCancelled(cmd, operator, frozen); err != nil {
				return err
			}
			return tellGoesOn(cmd, frozen)
		},
	}
	what.register(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "a `text` that is told to those who are stopped")
	return cmd
}

// tellGoesOn names what was not surely stopped.
func tellGoesOn(cmd *cobra.Command, f api.Freeze) error {
	if len(f.MayGoOn) == 0 {
		return nil
	}
	for _, name := range f.MayGoOn {
		fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: may go on %s\n", termsafe.Text(name))
	}
	return cli.Status(2)
}

// tellCancelled says which approvals were cancelled, so that an operator who mistyped a
// name sees that nothing was. The freeze holds even if that cannot be found out.
func tellCancelled(cmd *cobra.Command, operator *client.Client, f api.Freeze) error {
	q := api.Query{State: bailiff.ApprovalCancelled, Limit: math.MaxInt}
	switch f.Kind {
	case api.FreezeSession:
		q.Session = f.ID
	case api.FreezeUser:
		q.User = f.ID
	}
	list, _, err := listed(cmd.Context(), operator, q)
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: warning: it is frozen, but which approvals that cancelled is not known: %v\n", err)
		return nil
	}
	var ids []string
	for _, e := range list {
		if e.Resolved.Equal(f.At) {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "nothing of it waited for approval")
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "cancelled: %s\n", strings.Join(ids, " "))
	return err
}

// NewThaw is "bailiff thaw".
func NewThaw(configPath *string) *cobra.Command {
	var what target
	cmd := &cobra.Command{
		Use:   "thaw --session ID | --user ID | --all",
		Short: "Let go on what was frozen",
		Long: `Lets go on what was frozen by the same name. What was stopped is not begun again,
and grants that were revoked are gone.

Exit status: 0 if it is thawed, 1 if not, as when it was not frozen by that name.`,
		Example: "  bailiff thaw --user telegram:42",
		Args:    cobra.NoArgs,
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
			f, named := what.freezing()
			if !named {
				return whatToThaw(cmd.Context(), operator)
			}
			thawed := termsafe.Text(api.Freeze{Kind: f.Kind, ID: f.ID}.What())
			err := operator.Thaw(cmd.Context(), f.Kind, f.ID)
			if cli.HasCode(err, "freeze_unknown") {
				return fmt.Errorf("%s is not frozen by that name; \"bailiff status\" shows what is", thawed)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "thawed: %s\n", thawed)
			return err
		}),
	}
	what.register(cmd)
	return cmd
}

// whatToThaw says what is frozen where none of it is named.
func whatToThaw(ctx context.Context, operator *client.Client) error {
	freezes, err := operator.Freezes(ctx)
	if err != nil {
		return err
	}
	if len(freezes) == 0 {
		return errors.New("nothing is frozen")
	}
	flags := make([]string, len(freezes))
	for i, f := range freezes {
		flags[i] = flagOf(f.Kind, f.ID)
	}
	return fmt.Errorf("say what to thaw: %s", strings.Join(flags, " or "))
}

// flagOf is how a target is given on the command line.
func flagOf(kind, id string) string {
	if kind == api.FreezeAll {
		return "--all"
	}
	return "--" + kind + " " + termsafe.Text(shellquote.Quote(id))
}
