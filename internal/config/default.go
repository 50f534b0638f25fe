package config

import (
	"maps"
	"net"
	"os"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
)

// usual are the backends that are there where the configuration names none.
var usual = []string{"docker", "bubblewrap"}

// Default returns the configuration that serves where no file is.
func Default(known backends.Catalogue) *Config {
	self := []uint32{uint32(os.Geteuid())} //nolint:gosec // a uid fits
	return &Config{
		StateDir: defaultpath.State(),
		Agent: Agent{
			Listeners: []Listener{{Name: "agent", Listen: socket(defaultpath.AgentSocket), UIDs: self}},
			DataPaths: []string{api.DecisionPath, "agent/call/decision"},
		},
		Operator: Operator{Listen: socket(defaultpath.OperatorSocket), UIDs: self,
			OIDC: OIDC{AccountClaim: "sub", GroupsClaim: "groups", Session: 12 * time.Hour}},
		Metrics:     Metrics{Listen: "127.0.0.1:9464"},
		Policies:    Policies{RequireTests: true, EvalTimeout: 250 * time.Millisecond},
		DecisionLog: DecisionLog{Rotate: Rotate{Megabytes: 64, Hours: 24}},
		Traces:      Traces{Sample: 1},
		Env:         Env{Sources: []Source{{}}},
		Approvals:   Approvals{Timeout: 5 * time.Minute},
		Limits: Limits{
			RequestsPerMinute: Shares{Caller: 60_000, Session: 30_000, User: 30_000},
			PendingApprovals:  Shares{Caller: 1000, Session: 20, User: 5},
			Sandboxes:         SandboxShares{Total: 500, Caller: 300, User: 50, Backend: 400},
			Warm:              Warm{Sandboxes: 4, MemoryMB: 256},
		},
		Egress: Egress{Direct: true, Limits: EgressLimits{
			Connections: MaxSandboxConnections, Total: 4096, PerSecond: 50, PerHost: 32, HoldSeconds: 60,
		}},
		Backends: usualBackends(known),
		Log:      Log{Format: "text", Level: "info"},
	}
}

func usualBackends(known backends.Catalogue) Backends {
	all := Backends{}
	for _, name := range usual {
		if section, ok := known[name]; ok {
			all[name] = section()
		}
	}
	return all
}

func socket(name string) Address { return Address{"unix", defaultpath.Socket(name)} }

// Warnings says what is allowed but deserves a second look, a sentence each.
func (c *Config) Warnings() []string {
	var all []string
	for _, l := range c.Agent.Listeners {
		if l.Listen.Network == "tcp" && !loopback(l.Listen.Address) {
			all = append(all, "agent listener "+l.Name+" takes requests from other machines ("+l.Listen.String()+"), and its "+
				"token travels unencrypted")
		}
	}
	if c.Metrics.Listen != "" && !loopback(c.Metrics.Listen) {
		all = append(all, "metrics are served to other machines ("+c.Metrics.Listen+")")
	}
	if c.Operator.Console != "" && c.Operator.TLS.Name == "" && !loopback(c.Operator.Console) {
		all = append(all, "the operator console is served to other machines ("+c.Operator.Console+")")
	}
	if c.Operator.AllowSameUser {
		all = append(all, "operator.allow_same_user is true: an agent that runs as an operator's user can approve its own requests")
	}
	if !c.Backends.isolate() {
		all = append(all, "no isolated backend is configured: every request of a messaging platform will be refused")
	}
	return all
}

// isolate says whether any of them does.
func (b Backends) isolate() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(b)), backends.Maker.Isolated)
}

func loopback(hostport string) bool {
	host, _, _ := net.SplitHostPort(hostport)
	return settings.IsLoopback(host)
}
