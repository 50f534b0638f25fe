package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/termsafe"
)

func newApprovalsWatch(configPath *string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Follow what waits for approval, and answer it by one key",
		Long: `Shows what waits for approval as it comes, and takes answers:

  j k or arrows, 1-9   select         a   approve once
  d                    deny           s   approve for the session
  f                    freeze         w   approve always
  q                    quit

Nothing is selected by itself when the list changes, so that no key answers what
was not seen; where a text does not fit on the screen, an approval takes its key
twice. Without a terminal it prints what happens, a line for each event, or with
--output json as the operator API tells it.

Exit status: 0 when it is left, 1 if no sidecar answers or it goes away.`,
		Example: `  bailiff approvals watch
  bailiff approvals watch --output json | jq .`,
		Args: cobra.NoArgs,
		RunE: atDoor(configPath, func(cmd *cobra.Command, door *client.Client, _ []string) error {
			if format != "table" && format != "json" {
				return fmt.Errorf("--output is %q, want table or json", format)
			}
			in, out := cmd.InOrStdin(), cmd.OutOrStdout()
			if format == "json" || !isTerminal(in) || !isTerminal(out) {
				return told(door.Events(cmd.Context(), printEvents(out, format)))
			}
			return told(watchScreen(cmd.Context(), door, in.(*os.File), out))
		}),
	}
	outputFlag(cmd, &format)
	return cmd
}

func descriptor(f *os.File) int { return int(f.Fd()) } //nolint:gosec // a descriptor fits

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(descriptor(file)) && os.Getenv("TERM") != "dumb"
}

// told takes being stopped for an end.
func told(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// printEvents prints a line for each event.
func printEvents(w io.Writer, format string) func(name string, data []byte) error {
	return func(name string, data []byte) error {
		if name == "" {
			return nil
		}
		if format == "json" {
			line, err := json.Marshal(struct {
				Event string          `json:"event"`
				Data  json.RawMessage `json:"data"`
			}{name, data})
			if err == nil {
				_, err = termsafe.JSON{W: w}.Write(append(line, '\n'))
			}
			return err
		}
		about, err := eventLine(name, data)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s  %-9s  %s\n", time.Now().Format(time.DateTime), name, about)
		}
		return err
	}
}

// eventLine says in a line what happened.
func eventLine(name string, data []byte) (string, error) {
	switch name {
	case "approval":
		var e approval.Entry
		err := json.Unmarshal(data, &e)
		return fmt.Sprintf("%s  %s  %s  %s  %s", e.ID, e.State, account(e.Request.Session), what(e.Request, 80), termsafe.Text(e.Message)), err
	case "grant":
		var g gateway.GrantChange
		err := json.Unmarshal(data, &g)
		return fmt.Sprintf("%s  %s  %s  %s", g.Grant.ID, gone(g.Gone, "ended", g.Grant.Scope), termsafe.Text(g.Grant.Platform+":"+g.Grant.User), termsafe.Brief(covers(g.Grant), 80)), err
	case "freeze":
		var f gateway.FreezeChange
		err := json.Unmarshal(data, &f)
		return fmt.Sprintf("%s  %s  %s", gone(f.Gone, "thawed", "frozen"), termsafe.Text(f.Freeze.What()), termsafe.Text(f.Freeze.Reason)), err
	case "lost":
		return "some events were missed, since they came too fast", nil
	}
	var l gateway.Logged
	err := json.Unmarshal(data, &l)
	return termsafe.Text(l.Session) + "  " + logLine(l), err
}

func gone(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// happening is an event of the sidecar, or why there are no more.
type happening struct {
	name string
	data []byte
	err  error
}

// watchScreen runs the live view on a terminal until it is left.
func watchScreen(ctx context.Context, door *client.Client, in *os.File, out io.Writer) error {
	before, err := term.MakeRaw(descriptor(in))
	if err != nil {
		return fmt.Errorf("taking over the terminal: %w", err)
	}
	defer func() { _ = term.Restore(descriptor(in), before) }()
	_, _ = io.WriteString(out, "\x1b[?1049h\x1b[?25l") // another page, no cursor
	defer func() { _, _ = io.WriteString(out, "\x1b[?25h\x1b[?1049l") }()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &view{door: door, size: func() (width, height int) { return sizeOf(in) }}
	return v.run(ctx, out, keysOf(ctx, in), happenings(ctx, door))
}

func sizeOf(terminal *os.File) (width, height int) {
	width, height, err := term.GetSize(descriptor(terminal))
	if err != nil || width < 20 || height < 5 {
		return 80, 24
	}
	return width, height
}

// happenings follows the sidecar's events.
func happenings(ctx context.Context, door *client.Client) <-chan happening {
	all := make(chan happening)
	send := func(h happening) error {
		select {
		case all <- h:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() {
		err := door.Events(ctx, func(name string, data []byte) error { return send(happening{name: name, data: data}) })
		_ = send(happening{err: err})
	}()
	return all
}

// run shows and answers until it is left.
func (v *view) run(ctx context.Context, out io.Writer, keys <-chan rune, all <-chan happening) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case key, open := <-keys:
			if !open || v.press(ctx, key) {
				return nil
			}
		case h := <-all:
			if err := v.happened(ctx, h); err != nil {
				return err
			}
		case <-second.C:
		}
		if _, err := io.WriteString(out, v.draw()); err != nil {
			return err
		}
	}
}

// happened takes an event in.
func (v *view) happened(ctx context.Context, h happening) error {
	switch {
	case h.err != nil:
		return h.err
	case h.name == "" || h.name == "lost":
		return v.load(ctx)
	case h.name != "approval":
		return nil
	}
	var e approval.Entry
	if err := json.Unmarshal(h.data, &e); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	v.take(ctx, e)
	return nil
}

// shownAtMost is how many pending ones the live view knows of.
const shownAtMost = 2000

// load asks for all that wait.
func (v *view) load(ctx context.Context) error {
	list, _, err := listed(ctx, v.door, approval.Query{State: bailiff.ApprovalPending, Limit: shownAtMost})
	if err != nil {
		return err
	}
	first := !v.loaded
	v.pending, v.loaded = list, true
	switch {
	case first && len(list) > 0:
		v.choose(ctx, 0)
	case v.at() < 0:
		v.selected = ""
	}
	return nil
}
