package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
)

func (r *reader) guard(c *Config, at place) {
	var g guard.Rule
	before := len(r.faults)
	r.section(at, fields{
		"name":    as(&g.Name, r.label),
		"when":    r.condition(&g.When, guard.Valid),
		"message": as(&g.Message, r.text),
		"instead": as(&g.Instead, r.text),
	})
	switch {
	case len(r.faults) > before:
	case g.Name == "":
		r.fault(at, "name is missing")
	case g.When == "":
		r.fault(at, "when is missing")
	case slices.ContainsFunc(c.Guards, func(o guard.Rule) bool { return o.Name == g.Name }):
		r.fault(at, "the name %q is taken by another guard", g.Name)
	}
	c.Guards = append(c.Guards, g)
}

func (r *reader) approvals(c *Config, at place) {
	r.section(at, fields{
		"timeout": r.duration(&c.Approvals.Timeout, time.Second, 24*time.Hour),
		"routes": func(at place) {
			before := len(r.faults)
			r.list(at, func(at place) { r.route(c, at) })
			if len(c.Approvals.Routes) == 0 && len(r.faults) == before {
				r.fault(at, "names no route; leave it out to let everybody answer who can be reached")
			}
		},
	})
}

func (r *reader) route(c *Config, at place) {
	route := Route{Quorum: 1}
	quorum, proof := at, at
	before := len(r.faults)
	r.section(at, fields{
		"name":      as(&route.Name, r.label),
		"when":      r.condition(&route.When, func(text string) error { _, err := guard.OfClaim(text); return err }),
		"approvers": r.condition(&route.Approvers, func(text string) error { _, err := guard.OfApprover(text); return err }),
		"quorum":    func(at place) { quorum = at; r.number(&route.Quorum, 1, 100)(at) },
		"timeout":   r.duration(&route.Timeout, time.Second, 24*time.Hour),
		"channels":  func(at place) { r.channels(c, &route, at) },
		"proof":     func(at place) { proof = at; r.oneOf(&route.Proof, "proof", bailiff.ProofWebAuthn)(at) },
	})
	switch {
	case len(r.faults) > before:
	case route.Name == "":
		r.fault(at, "name is missing")
	case slices.ContainsFunc(c.Approvals.Routes, func(o Route) bool { return o.Name == route.Name }):
		r.fault(at, "the name %q is taken by another route", route.Name)
	case slices.ContainsFunc(c.Approvals.Routes, func(o Route) bool { return o.When == "" }):
		r.fault(at, "is never taken, since a route before it has no condition and takes everything")
	}
	c.Approvals.Routes = append(c.Approvals.Routes, route)
	this := len(c.Approvals.Routes) - 1
	r.whole = append(r.whole, func() {
		r.checkQuorum(c, route.Quorum, quorum)
		if route.Proof != "" {
			r.checkProof(c, route.Channels, proof)
		}
		if len(route.Channels) > 0 {
			return
		}
		c.Approvals.Routes[this].Channels = c.Channels()
		if route.Proof != "" {
			c.Approvals.Routes[this].Channels = []string{bailiff.ChannelConsole}
		}
	})
}

// checkQuorum refuses a route on which a question could never be answered.
func (r *reader) checkQuorum(c *Config, quorum int, at place) {
	if c.Operator.AllowSameUser {
		return // which lets operators without a name answer
	}
	if people := len(c.People); quorum > people {
		r.fault(at, "needs %s to say yes, but people names %d", peopleCount(quorum), people)
	}
}

// checkProof refuses a route whose answers could not be proved. A security key answers to a page, and to the name of
// its server.
func (r *reader) checkProof(c *Config, channels []string, at place) {
	host, _, _ := net.SplitHostPort(c.Operator.Console)
	switch {
	case slices.ContainsFunc(channels, func(channel string) bool { return channel != bailiff.ChannelConsole }):
		r.fault(at, "a security key is asked for at the console only, want channels: [console]")
	case c.Operator.Console == "":
		r.fault(at, "there is no console to ask for a security key, want operator.console to say where it is")
	case c.Operator.TLS.Name == "" && host != "localhost":
		r.fault(at, "security keys want a console with a name, want operator.tls, or operator.console as localhost:PORT "+
			"where only this machine uses it")
	}
}

func peopleCount(people int) string {
	if people == 1 {
		return "one person"
	}
	return fmt.Sprintf("%d people", people)
}

func (r *reader) channels(c *Config, route *Route, at place) {
	before := len(r.faults)
	r.each(&route.Channels, func(at place) (string, bool) {
		var channel string
		r.oneOf(&channel, "channel", channels...)(at)
		if channel != "" {
			r.whole = append(r.whole, func() { r.isOpen(c, channel, at) })
		}
		if slices.Contains(route.Channels, channel) {
			r.fault(at, "%q is named twice", channel)
		}
		return channel, channel != ""
	})(at)
	if len(route.Channels) == 0 && len(r.faults) == before {
		r.fault(at, "names no channel, want %s", strings.Join(channels, ", "))
	}
}

// channels are all that there may be.
var channels = []string{bailiff.ChannelOperator, bailiff.ChannelConsole, "slack", "discord", "telegram", "matrix", "webhook"}

// isOpen refuses a channel at which no approver would be asked.
func (r *reader) isOpen(c *Config, channel string, at place) {
	switch {
	case slices.Contains(c.Channels(), channel):
	case channel == bailiff.ChannelConsole:
		r.fault(at, "there is no console, want operator.console to say where it is")
	case c.Chat.Commands(channel) != nil:
		r.fault(at, "nothing is posted there, want %s.approvals to say in which chat", channel)
	default:
		r.fault(at, "there is no section %s, want one that says how to reach it", channel)
	}
}

// condition reads a condition that compiles. A fault in a block scalar is named
// with its own line.
func (r *reader) condition(into *string, compile func(string) error) func(place) {
	return func(at place) {
		text, ok := r.text(at)
		if !ok {
			return
		}
		*into = text
		err := compile(text)
		var wrong *guard.Fault
		switch {
		case errors.As(err, &wrong):
			r.faultBelow(at, wrong.Line, "%v", wrong)
		case err != nil:
			r.fault(at, "%v", err)
		}
	}
}

// faultBelow is a fault in one line of a text, counted from 1. A block scalar's
// text begins in the line after its sign.
func (r *reader) faultBelow(at place, line int, format string, args ...any) {
	r.fault(at, format, args...)
	if _, block := at.node.(*ast.LiteralNode); block {
		r.faults[len(r.faults)-1].Line += line
	}
}
