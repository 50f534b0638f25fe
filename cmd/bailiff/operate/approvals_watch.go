package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

func newApprovalsWatch(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Follow what waits for approval, and what becomes of it",
		Long: `Lists what waits for approval, and then prints a line for each event: what is asked,
answered, granted, revoked, frozen and decided. With --output json it prints the events
as the operator API tells them.

Answer in another terminal, by "bailiff approvals approve ID" or deny ID;
"bailiff approvals show ID" shows the whole text before.

Exit status: 0 when it is interrupted, 1 if no sidecar answers or it goes away.`,
		Example: `  bailiff approvals watch
  bailiff approvals watch --output json | jq .`,
		Args: cobra.NoArgs,
		RunE: cli.AtOperator(configPath, func(cmd *cobra.Command, operator *client.Client, _ []string) error {
			w := watcher{operator, cmd.OutOrStdout()}
			follow := map[string]func(context.Context, string, []byte) error{"table": w.printLine, "json": w.printJSON}[format]
			if follow == nil {
				return fmt.Errorf("--output is %q, want table or json", format)
			}
			err := operator.Events(cmd.Context(), func(name string, data []byte) error { return follow(cmd.Context(), name, data) })
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}),
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

// watcher prints the events of a sidecar.
type watcher struct {
	operator *client.Client
	out      io.Writer
}

// printJSON prints an event as the operator API tells it.
func (w watcher) printJSON(_ context.Context, name string, data []byte) error {
	if name == "" {
		return nil
	}
	line, err := json.Marshal(struct {
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}{name, data})
	if err == nil {
		_, err = termsafe.JSON{W: w.out}.Write(append(line, '\n'))
	}
	return err
}

// printLine prints a line for an event. The list of what waits comes first, and again
// where events were missed.
func (w watcher) printLine(ctx context.Context, name string, data []byte) error {
	if name != "" {
		about, err := eventLine(name, data)
		if err == nil {
			err = w.line(name, about)
		}
		if changes := putBackIn(name, data); err == nil && changes != "" {
			err = w.line("put back", termsafe.Text(changes)+" If you made the change yourself, take it back from there.")
		}
		if err != nil || name != "lost" {
			return err
		}
	}
	pending, _, err := listed(ctx, w.operator, api.Query{State: bailiff.ApprovalPending, Limit: shownAtMost})
	for _, e := range pending {
		err = errors.Join(err, w.line("approval", approvalLine(e)))
	}
	return err
}

func (w watcher) line(name, about string) error {
	_, err := fmt.Fprintf(w.out, "%s  %-9s  %s\n", time.Now().Format(time.DateTime), name, about)
	return err
}

// shownAtMost is how many pending approvals are listed.
const shownAtMost = 2000

func approvalLine(e api.Entry) string {
	return fmt.Sprintf("%s  %s  %s  %s  %s", e.ID, e.State, account(e.Request.Session), what(e.Request, 80), termsafe.Text(e.Message))
}

// putBackIn is what an execution put back of changes in a project, which a person may have made by hand.
func putBackIn(name string, data []byte) string {
	var l api.Logged
	if name != string(api.ExecutionEvent) || json.Unmarshal(data, &l) != nil {
		return ""
	}
	return l.PutBack()
}

// eventLine says in a line what happened.
func eventLine(name string, data []byte) (string, error) {
	switch name {
	case "approval":
		var e api.Entry
		err := json.Unmarshal(data, &e)
		return approvalLine(e), err
	case "grant":
		var g api.GrantChange
		err := json.Unmarshal(data, &g)
		return fmt.Sprintf("%s  %s  %s  %s", g.Grant.ID, gone(g.Gone, "ended", g.Grant.Scope),
			termsafe.Text(g.Grant.Platform+":"+g.Grant.User), termsafe.Brief(covers(g.Grant), 80)), err
	case "freeze":
		var f api.FreezeChange
		err := json.Unmarshal(data, &f)
		return fmt.Sprintf("%s  %s  %s", gone(f.Gone, "thawed", "frozen"), termsafe.Text(f.Freeze.What()),
			termsafe.Text(f.Freeze.Reason)), err
	case "lost":
		return "some events were missed, since they came too fast", nil
	}
	var l api.Logged
	err := json.Unmarshal(data, &l)
	return termsafe.Text(l.Session) + "  " + newsOf(l), err
}

func gone(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
