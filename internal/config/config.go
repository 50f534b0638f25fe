// Package config reads bailiff.yaml into typed values with the defaults filled
// in, and says whether a file may be trusted.
//
// What is promised: a configuration is accepted whole or refused with all of
// its faults, each with file, line, key and what would be right. An unknown
// key, a wrong type and a value out of range are faults, never ignored. Nothing
// is taken from the working folder, where an agent could have planted it, and
// no configuration or token file that another user may write is
// read at all ([Trusted]). Relative paths in the file are relative to the
// file's folder, and "~" is the home folder of the sidecar's user.
// What a backend uses again and again, such as a credential's file, is judged at each
// use, so that it can be renewed; [Check] looks at it beforehand.
// Conditions (guards, approval routes) are compiled, so that their faults come
// with those of the rest; what is kept of them is their text.
//
// Keys of features that this version lacks are refused by name.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
)

// Config is a whole bailiff.yaml.
type Config struct {
	// Path is the file it was read from; empty for the embedded defaults.
	Path string
	// StateDir holds the decision log, sandbox records and everything else that
	// outlives the sidecar.
	StateDir string
	Agent    Agent
	Operator Operator
	People   []Person
	Metrics  Metrics
	Policies Policies
	// DecisionLog says when the log's files are changed and how long they stay.
	DecisionLog DecisionLog
	Traces      Traces
	Env         Env
	// Guards can only deny, and speak before the policies do.
	Guards    []guard.Rule
	Approvals Approvals
	Chat      Chat
	Limits    Limits
	Backends  Backends
	Egress    Egress
	Store     Store
	Runner    Runner
	Log       Log
}

// Agent says where agents send requests.
type Agent struct {
	Listeners []Listener
	// DataPaths are what OPA's Data API serves, such as "bailiff/decision".
	DataPaths []string
}

// Listener is a listener for agents.
type Listener struct {
	Name   string
	Listen Address
	// UIDs are the users that may connect to a Unix socket; empty means all users whom
	// the socket's file mode lets in.
	UIDs []uint32
	// Platforms are those that requests may claim: empty means every messaging
	// platform, "*" means all, and "cli" must be named to be allowed.
	Platforms []string
	// TokenFile holds the bearer token of a TCP listener.
	TokenFile string
	// MCP says whose requests come in by the Model Context Protocol; nil means that
	// it is not served.
	MCP *MCP
}

// SpeaksFor says whether requests that come in may claim a platform, as far as can be
// told without the policies, which know the messaging platforms.
func (l Listener) SpeaksFor(platform string) bool {
	if len(l.Platforms) == 0 {
		return platform != "cli"
	}
	return slices.Contains(l.Platforms, platform) || slices.Contains(l.Platforms, "*")
}

// MCP says whose requests a listener's clients of the Model Context Protocol send.
type MCP struct {
	// Session has no ID where each session of the protocol is one of its own.
	Session bailiff.Session
	// Env lists the names of the variables that every request asks for.
	Env []string
	// WaitSeconds is how long a call waits for an approval; zero means as long as usual.
	WaitSeconds int
	// ClientTimeoutSeconds is after how long clients give a call up; zero means what is
	// known of each by its name.
	ClientTimeoutSeconds int
}

// Address is where to listen, in the terms of net.Listen.
type Address struct {
	// Network is "unix" or "tcp".
	Network string
	// Address is a socket's absolute path, or host:port.
	Address string
}

// String writes the address as it stands in bailiff.yaml.
func (a Address) String() string { return a.Network + "://" + a.Address }

// Operator says where operators connect and who they are.
type Operator struct {
	Listen Address
	UIDs   []uint32
	// Console is the host:port of the web page; empty means none.
	Console string
	TLS     ConsoleTLS
	OIDC    OIDC
	// Tokens are those of programs.
	Tokens []Token
	// AllowSameUser lets an operator answer although the agent's user could
	// reach the operator's socket too, and answer what they asked for themselves.
	AllowSameUser bool
	// BreakGlass lets an operator run, in an emergency and with a reason, what the
	// policies deny.
	BreakGlass bool
}

// Person is one human, for approvals.
type Person struct {
	Name   string
	Groups []string
	UIDs   []uint32
	// Roles are what the person may do; none means all.
	Roles []string
	// OIDC are the person's accounts at operator.oidc.
	OIDC []string
	// Accounts are the person's ids by messaging platform.
	Accounts map[string][]string
	// Env are the files of the variables that are the person's alone.
	Env []string
}

// Metrics says where /metrics, /healthz and /readyz are served; an empty Listen
// means nowhere.
type Metrics struct{ Listen string }

// Env lists the sources of variables; the first that has a name wins.
type Env struct{ Sources []Source }

// Source is the process environment, or a dotenv file if File is set.
type Source struct{ File string }

// Approvals says which humans are asked, and for how long.
type Approvals struct {
	// Timeout is the longest that a question waits for its answer.
	Timeout time.Duration
	// Routes are tried in their order; none means that every person can answer who
	// can be reached.
	Routes []Route
}

// Route is a way by which questions go to people.
type Route struct {
	Name string
	// When is the condition on the claims that it takes; empty takes all.
	When string
	// Approvers is the condition on who may answer; empty means every person.
	Approvers string
	// Quorum is how many must say yes, unless the policies want more.
	Quorum int
	// Timeout is how long a question waits; zero means as long as any.
	Timeout time.Duration
	// Channels are where people are asked, see [Config.Channels].
	Channels []string
	// Proof is by what each answer must be proved: [bailiff.ProofWebAuthn], or empty for none.
	Proof string
}

// Channels are those by which people can be asked: [bailiff.ChannelOperator],
// [bailiff.ChannelConsole] where there is one, and chat services.
func (c *Config) Channels() []string {
	all := []string{bailiff.ChannelOperator}
	if c.Operator.Console != "" {
		all = append(all, bailiff.ChannelConsole)
	}
	return append(all, c.Chat.Channels()...)
}

// Limits keep one agent, conversation or user from taking what all share.
type Limits struct {
	// RequestsPerMinute are the new requests; zero means no limit.
	RequestsPerMinute Shares
	// PendingApprovals are the questions that wait for an answer at once.
	PendingApprovals Shares
	// Sandboxes are those that there may be at once.
	Sandboxes SandboxShares
	// Warm are the sandboxes that are kept ready for the next session.
	Warm Warm
}

// Shares are how much one listener, session or user may have.
type Shares struct{ Caller, Session, User int }

// SandboxShares are how many sandboxes there may be in all, and for one listener,
// one user of a platform and one backend.
type SandboxShares struct{ Total, Caller, User, Backend int }

// Warm is how many started sandboxes wait for a session, and how much memory they
// may take in all; no sandboxes means none.
type Warm struct{ Sandboxes, MemoryMB int }

// Backends are the sections of the configured backends by the names that decisions
// use.
type Backends map[string]backends.Maker

// Runner says where the bailiff-runner program is; an empty path means beside
// bailiff.
type Runner struct{ Path string }

// Log says how the sidecar writes its own log.
type Log struct {
	// Format is "text" or "json"; Level is "debug", "info", "warn" or "error".
	Format, Level string
}

// Find returns the path of the configuration to use, or "" if there is none and
// the embedded defaults serve. A file that was asked for must exist.
func Find(explicit string) (string, error) {
	if explicit == "" {
		explicit = os.Getenv("BAILIFF_CONFIG")
	}
	if explicit != "" {
		return existing(explicit)
	}
	for _, path := range usualPlaces() {
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("finding the configuration: %w", err)
		}
	}
	return "", nil
}

func existing(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("finding the configuration: %w", err)
	}
	return path, nil
}

func usualPlaces() []string {
	places := []string{"/etc/bailiff/bailiff.yaml"}
	if home, err := os.UserHomeDir(); err == nil {
		places = append([]string{filepath.Join(home, ".config/bailiff/bailiff.yaml")}, places...)
	}
	return places
}

// Load reads a configuration that no other user may write; the empty path stands
// for the embedded defaults. It may name the technologies that are known. The error
// for a faulty file is of type [Faults].
func Load(path string, known backends.Catalogue) (*Config, error) {
	c, _, err := load(path, known)
	return c, err
}

func load(path string, known backends.Catalogue) (*Config, *reader, error) {
	if path == "" {
		return Default(known), new(reader), nil
	}
	if err := trust.Path(path); err != nil {
		return nil, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	c, r := read(path, text, known)
	r.checkTrust()
	return c, r, r.err()
}

// Parse reads a configuration's text and touches no file; name is its path, for
// messages and relative paths. The error for a faulty text is of type [Faults].
func Parse(name string, text []byte, known backends.Catalogue) (*Config, error) {
	c, r := read(name, text, known)
	return c, r.err()
}
