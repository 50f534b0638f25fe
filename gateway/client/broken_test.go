package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// small are what operators ask and have at once, and slow what stops things first.
var (
	small = map[string]func(context.Context, *client.Client) error{
		"Status":    func(ctx context.Context, c *client.Client) error { _, err := c.Status(ctx); return err },
		"Sandboxes": func(ctx context.Context, c *client.Client) error { _, err := c.Sandboxes(ctx); return err },
		"Approvals": func(ctx context.Context, c *client.Client) error {
			_, err := c.Approvals(ctx, api.Query{})
			return err
		},
		"Approval":    func(ctx context.Context, c *client.Client) error { _, err := c.Approval(ctx, "a-1"); return err },
		"Approve":     func(ctx context.Context, c *client.Client) error { _, err := c.Approve(ctx, "a-1", "once"); return err },
		"Deny":        func(ctx context.Context, c *client.Client) error { _, err := c.Deny(ctx, "a-1", ""); return err },
		"Grants":      func(ctx context.Context, c *client.Client) error { _, err := c.Grants(ctx); return err },
		"Revoke":      func(ctx context.Context, c *client.Client) error { _, err := c.Revoke(ctx, "g-1"); return err },
		"Freezes":     func(ctx context.Context, c *client.Client) error { _, err := c.Freezes(ctx); return err },
		"Thaw":        func(ctx context.Context, c *client.Client) error { return c.Thaw(ctx, "all", "") },
		"Revisions":   func(ctx context.Context, c *client.Client) error { _, err := c.Revisions(ctx); return err },
		"Revision":    func(ctx context.Context, c *client.Client) error { _, err := c.Revision(ctx, "abcdef"); return err },
		"ConsoleLink": func(ctx context.Context, c *client.Client) error { _, err := c.ConsoleLink(ctx); return err },
	}
	slow = map[string]func(context.Context, *client.Client) error{
		"RemoveSandbox": func(ctx context.Context, c *client.Client) error { return c.RemoveSandbox(ctx, "sb1") },
		"Reap":          func(ctx context.Context, c *client.Client) error { _, err := c.Reap(ctx); return err },
		"Resume":        func(ctx context.Context, c *client.Client) error { _, err := c.Resume(ctx); return err },
		"RollBack": func(ctx context.Context, c *client.Client) error {
			_, err := c.RollBack(ctx, "abcdef", "")
			return err
		},
		"Freeze": func(ctx context.Context, c *client.Client) error {
			_, err := c.Freeze(ctx, api.Freezing{Kind: "all"})
			return err
		},
	}
)

// stalling is the address of a sidecar that is stopped, as "kill -STOP" does.
func stalling(t *testing.T) string {
	t.Helper()
	for _, broken := range apptest.BrokenSidecars() {
		if broken.Name == apptest.Silent {
			return broken.Open(t, "unix")
		}
	}
	t.Fatal("there is no such broken sidecar")
	return ""
}

func TestOperatorsGiveUpASidecarThatTakesTheirRequestAndStalls(t *testing.T) {
	const soon = 50 * time.Millisecond
	address := stalling(t)
	want := "the sidecar at " + address + " took the request, did not answer it within 0.05 s, and may still do what was asked; look at " +
		"its log, kill -CONT or restart it"
	for name, call := range small {
		t.Run(name, func(t *testing.T) {
			if err := call(t.Context(), hasty(t, address, soon, time.Hour)); err == nil || err.Error() != want {
				t.Errorf("it says %v", err)
			}
		})
	}
	for name, call := range slow {
		t.Run(name, func(t *testing.T) {
			if err := call(t.Context(), hasty(t, address, time.Millisecond, soon)); err == nil || err.Error() != want {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func hasty(t *testing.T, address string, prompt, stopping time.Duration) *client.Client {
	t.Helper()
	c, err := client.New(address, bailiff.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	c.Hasten(prompt, stopping)
	return c
}

func TestWhoGivesUpFirstIsNotToldThatTheSidecarStalls(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := hasty(t, stalling(t), time.Hour, time.Hour).Status(ctx); !errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "kill -CONT") {
		t.Errorf("it says %v", err)
	}
}
