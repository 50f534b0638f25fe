package api

import (
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Status is the answer to GET /v1/status.
type Status struct {
	Version   string           `json:"version"`
	Started   time.Time        `json:"started"`
	Listeners []ListenerStatus `json:"listeners"`
	// Console is the URL of the web page, without what logs in; empty if there is none.
	Console   string           `json:"console"`
	Policies  PolicyStatus     `json:"policies"`
	Backends  []BackendStatus  `json:"backends"`
	Platforms []PlatformStatus `json:"platforms"`
	Chats     []ChatStatus     `json:"chats"`
	Chat      []ServiceStatus  `json:"chat"`
	Egress    EgressStatus     `json:"egress"`
	// Observed are the rules that the policies only observe, and those whose row has ended.
	Observed []ObservedRule `json:"observed,omitempty"`
	// Replicas are the sidecars that share a store with this one; missing where it shares none.
	Replicas []ReplicaStatus `json:"replicas,omitempty"`
	Warnings []string        `json:"warnings"`
}

// ReplicaStatus is one of the sidecars that share a store.
type ReplicaStatus struct {
	Name string `json:"name"`
	// Self says that it is the one that answers.
	Self bool `json:"self"`
	// Address is where the others reach it; empty where they do not.
	Address string `json:"address"`
	// State is "lives", "silent" or, of one that ended in order, "left".
	State string `json:"state"`
	// SilentSeconds is how long it has not been heard.
	SilentSeconds int `json:"silent_seconds"`
	// Homes counts the sessions and users that it serves.
	Homes int `json:"homes"`
	// Revision is that of its policies.
	Revision string `json:"revision"`
}

// ListenerStatus is a listener for agents, with the platforms for which it may speak.
type ListenerStatus struct {
	Name      string   `json:"name"`
	Listen    string   `json:"listen"`
	Platforms []string `json:"platforms"`
}

// SpeaksFor says whether requests that come in there may claim a platform.
func (l ListenerStatus) SpeaksFor(platform string) bool {
	return slices.Contains(l.Platforms, "*") || slices.Contains(l.Platforms, platform) ||
		platform != "cli" && slices.Contains(l.Platforms, "messaging")
}

// PolicyStatus is what is known of the policies in force; it is the answer to
// GET /v1/policies too.
type PolicyStatus struct {
	Revision string    `json:"revision"`
	Loaded   time.Time `json:"loaded"`
	Files    []string  `json:"files"`
	// Bundles are the revisions that bundles give themselves, by their files.
	Bundles map[string]Bundle `json:"bundles"`
	// Reloaded is when the files were last read, OK whether the policies in
	// force are those in the files, and Faults why they are not.
	Reloaded time.Time `json:"reloaded"`
	OK       bool      `json:"ok"`
	Faults   []string  `json:"faults"`
	// RolledBack is the word by which former policies are in force, and Waiting the
	// revision of the configuration's meanwhile, if they can be read.
	RolledBack *Rollback `json:"rolled_back,omitempty"`
	Waiting    string    `json:"waiting,omitempty"`
}

// ObservedRule is a row of the table observe: the rule neither asks nor denies until a day, the last of which is its own.
type ObservedRule struct {
	Rule  string `json:"rule"`
	Until string `json:"until"`
	// InForce is false where the row has ended.
	InForce bool `json:"in_force"`
}

// BackendStatus is one configured backend; Message says why it is not ready.
type BackendStatus struct {
	Name     string `json:"name"`
	Isolated bool   `json:"isolated"`
	Ready    bool   `json:"ready"`
	Message  string `json:"message"`
}

// PlatformStatus is where an ordinary request of a platform would run, and for how
// long its sandbox stays unused, and at most; Message says why it would not
// run.
type PlatformStatus struct {
	Platform string `json:"platform"`
	Backend  string `json:"backend"`
	Isolated bool   `json:"isolated"`
	Image    string `json:"image"`
	// Runtime is missing where it is left to the backend.
	Runtime     string `json:"runtime,omitempty"`
	IdleSeconds int    `json:"idle_seconds"`
	MaxSeconds  int    `json:"max_seconds"`
	Persistent  bool   `json:"persistent"`
	// Network is missing where the sandbox has none. Egress is what it may reach at most,
	// where the network is egress, and Shared the folders of the host that it may write.
	Network string   `json:"network,omitempty"`
	Egress  []string `json:"egress,omitempty"`
	Shared  []string `json:"shared,omitempty"`
	Message string   `json:"message"`
}

// Place is where it would run, as people are told it.
func (s PlatformStatus) Place() string {
	return bailiff.BackendTerms{Name: s.Backend, Image: s.Image, Runtime: s.Runtime}.Place()
}

// Expose says what is opened of an isolated sandbox.
func (s *PlatformStatus) Expose(b bailiff.BackendTerms) {
	if b.Network != "none" {
		s.Network, s.Egress = b.Network, b.Egress
	}
	for _, m := range b.Mounts {
		if !m.ReadOnly {
			s.Shared = append(s.Shared, m.Source)
		}
	}
}

// EgressStatus counts the connections of sandboxes whose network is egress: those that are open,
// and what became of all since the sidecar was started.
type EgressStatus struct {
	Open     int64 `json:"open"`
	Opened   int64 `json:"opened"`
	Refused  int64 `json:"refused"`
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	// Direct says that programs which know no proxy look names up and connect, where a sandbox lets them.
	Direct bool `json:"direct"`
	// Sessions are those that tried hosts last, the latest first.
	Sessions []EgressSession `json:"sessions,omitempty"`
}

// EgressSession is what one session reached and tried since the sidecar was started.
type EgressSession struct {
	Session string       `json:"session"`
	Last    time.Time    `json:"last"`
	Hosts   []EgressHost `json:"hosts"`
	// More counts the events of hosts that are not listed.
	More int64 `json:"more,omitempty"`
}

// EgressHost is what became of the connections of a session to a host.
type EgressHost struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Opened   int64  `json:"opened"`
	Refused  int64  `json:"refused"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
	// Rule is that of the last refusal.
	Rule string `json:"rule,omitempty"`
}

// ChatStatus is the same of a chat that the policies' tables name.
type ChatStatus struct {
	PlatformStatus
	Chat string `json:"chat"`
}

// ServiceStatus is bailiff's own account at a chat service.
type ServiceStatus struct {
	Service string `json:"service"`
	// Approvals says that approvals are posted there, and At in which chat, where the
	// service has chats.
	Approvals bool   `json:"approvals"`
	At        string `json:"at"`
	// Commands says that people give commands there.
	Commands bool `json:"commands"`
	// Message says why no person is reached there; empty if people are.
	Message string `json:"message"`
}

// Sandbox is one live sandbox.
type Sandbox struct {
	ID      string `json:"id"`
	Backend string `json:"backend"`
	Image   string `json:"image"`
	Runtime string `json:"runtime,omitempty"`
	Caller  string `json:"caller"`
	Session string `json:"session"`
	// Users counts the requests that are in it, Processes what runs in the
	// background, Interpreters those that keep the variables of scripts.
	Users        int       `json:"users"`
	Processes    int       `json:"processes"`
	Interpreters int       `json:"interpreters"`
	Since        time.Time `json:"since"`
	LastUsed     time.Time `json:"last_used"`
	// Expires is when it goes at the latest.
	Expires time.Time `json:"expires"`
}

// Sandboxes is the answer to GET /v1/sandboxes.
type Sandboxes struct {
	Sandboxes []Sandbox `json:"sandboxes"`
}

// Reaped is the answer to POST /v1/sandboxes/reap.
type Reaped struct {
	Removed int `json:"removed"`
}
