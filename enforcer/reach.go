package enforcer

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/pipes"
)

var (
	errNotEgress = errors.New("an MCP server at a URL is reached by rows alone: have its session's network be egress, with the host " +
		"among its rows")
	errEnters = errors.New("an MCP server at a URL gets only variables that are swapped: have the rows in the table env say swap")
)

// reach lets what speaks with an MCP server at a URL connect to it as a sandbox would, until the
// request ends. Nothing runs for it.
func (e *Enforcer) reach(ctx context.Context, g grant) answer {
	d := g.Decision
	values, swapped, err := e.values(g.located, d.Env)
	switch {
	case d.Backend.Network != backends.Egress || e.config.WayOut == nil:
		err = errNotEgress
	case err == nil && len(swapped) < len(values):
		err = errEnters
	}
	if err != nil {
		return failure(bailiff.Unavailable, bailiff.CodeCommand, err)
	}
	of := e.connectionOf(g, "mcp-"+g.event.DecisionID)
	authority, _, err := e.config.WayOut.Trust(of.Sandbox)
	if err != nil {
		return failure(bailiff.Unavailable, bailiff.CodeCommand, fmt.Errorf("making the authority of the connections: %w", err))
	}
	most := backgroundCommand(g).Timeout
	if most > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, most)
		defer stop()
	}
	t := &traffic{questions: e.questionsOf(g), reach: d.Backend.Egress}
	lines := pipes.New(ctx, func(ctx context.Context, conn net.Conn) { e.config.WayOut.Serve(ctx, conn, of, swapped, t) })
	g.news(bailiff.Progress{Outlet: &bailiff.Outlet{Dial: lines.Dial, Authority: authority, StandIns: values}})
	lines.Wait()
	a := answer{Answer: bailiff.Answer{Backend: d.Backend.Name}, started: true}
	exceeded := errors.Is(ctx.Err(), context.DeadlineExceeded)
	a.end(ctx, backends.Exit{TimedOut: exceeded, Interrupted: !exceeded}, most)
	t.tell(&a.Answer)
	return a
}
