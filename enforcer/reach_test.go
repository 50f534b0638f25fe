package enforcer

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// remote is a request that reaches an MCP server at a URL.
func remote(env ...string) bailiff.Request {
	req := server()
	req.Args.Command, req.Args.URL, req.Env = "curl -- https://a.test/mcp", "https://a.test/mcp", env
	return req
}

// told is a way out that says on whose behalf a connection is.
type told struct{ WayOut }

func (told) Trust(string) (certificate, others []byte, err error) {
	return []byte("authority"), nil, nil
}

func (told) Serve(ctx context.Context, conn net.Conn, of bailiff.Connection, swapped []bailiff.Swapped, hear bailiff.ConnectionHearer) {
	_, _ = io.WriteString(conn, of.Sandbox+" "+swapped[0].Value.Reveal()+" "+strings.Join(of.For.Egress, " ")+"\n")
	<-ctx.Done()
	hear.Closed("a.test", 1, 2)
	_ = conn.Close()
}

func swapping(names ...string) func(*bailiff.Decision) {
	return func(d *bailiff.Decision) {
		for _, name := range names {
			d.Env.Swap = append(d.Env.Swap, bailiff.Swap{Name: name, Hosts: []string{"a.test"}})
		}
	}
}

func byRows(d *bailiff.Decision) {
	d.Backend.Network, d.Backend.Egress = backends.Egress, []string{"a.test"}
}

func TestAServerAtAURLIsReachedByTheWayOutAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"TOKEN": "ghp_1234567890VALUEVALUEVALUEVALUE"}
		b.judge.decision = allow(byRows, forward("TOKEN"), swapping("TOKEN"))
		b.wayOut = told{}
	})
	ctx, hangUp := context.WithCancel(t.Context())
	said := make(chan string, 1)
	var outlet *bailiff.Outlet
	a := b.Execute(ctx, remote("TOKEN"), func(p bailiff.Progress) {
		if outlet = p.Outlet; outlet == nil {
			return
		}
		go func() {
			defer hangUp()
			conn, err := outlet.Dial()
			if err != nil {
				said <- err.Error()
				return
			}
			line := make([]byte, 100)
			n, _ := conn.Read(line)
			said <- string(line[:n])
		}()
	})
	if outlet == nil {
		t.Fatalf("it is not reached: %+v", a)
	}
	of, value, _ := strings.Cut(<-said, " ")
	if standIn := outlet.StandIns["TOKEN"].Reveal(); value != "ghp_1234567890VALUEVALUEVALUEVALUE a.test\n" || of != "mcp-"+a.DecisionID ||
		standIn == "" || strings.Contains(standIn, "1234567890") || string(outlet.Authority) != "authority" {
		t.Errorf("it is reached by %q for %s, with %q in the value's place", value, of, standIn)
	}
	if a.Status != bailiff.Interrupted || a.Egress == nil || a.Egress.Received != 2 {
		t.Errorf("it ended with %+v", a)
	}
	if _, err := outlet.Dial(); err == nil {
		t.Error("it may be reached after the end")
	}
	if all := b.fakeBackend.sandboxes(); len(all) > 0 {
		t.Errorf("there are sandboxes: %v", all)
	}
}

func TestAServerAtAURLIsNotReachedOtherwise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision bailiff.Decision
		want     string
	}{
		"a network without rows":      {allow(func(d *bailiff.Decision) { d.Backend.Network = "full" }), errNotEgress.Error()},
		"no network":                  {allow(), errNotEgress.Error()},
		"a variable that would enter": {allow(byRows, forward("TOKEN")), errEnters.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) {
				b.env, b.judge.decision, b.wayOut = environ{"TOKEN": "ghp_1234567890VALUEVALUEVALUEVALUE"}, c.decision, told{}
			})
			a := b.Execute(t.Context(), remote("TOKEN"), func(p bailiff.Progress) {
				if p.Outlet != nil {
					t.Error("it may be reached")
				}
			})
			if a.Status != bailiff.Unavailable || !strings.HasPrefix(strings.ToLower(a.Message), strings.ToLower(c.want[:40])) {
				t.Errorf("it ended with %+v, want %q", a, c.want)
			}
		})
	}
}
