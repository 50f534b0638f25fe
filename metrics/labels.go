package metrics

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	other = "other" // a value that no label may carry
	none  = "none"  // no value
)

// maxRules is how many rules count under their own names.
const maxRules = 500

const (
	orphan  = "orphan"
	warm    = "warm"    // of a start that needed no making
	refused = "refused" // of a question that never became an approval, since too many were pending
)

var (
	tools    = []bailiff.Tool{bailiff.Terminal, bailiff.ExecuteCode, bailiff.Process, bailiff.Call, bailiff.MCP}
	shadowed = append(slices.Clip(tools), "connection")
	statuses = []bailiff.Status{
		bailiff.Completed, bailiff.Refused, bailiff.ApprovalRequired, bailiff.Expired,
		bailiff.TimedOut, bailiff.Interrupted, bailiff.Unavailable, bailiff.Failed,
	}
	reasons = []string{"idle", "session_end", "shutdown", orphan, "failed", "request_end", "expired", "removed", "frozen", "policy",
		"yielded", "outage", "superseded", "owner_unknown", "displaced"}
	resolutions = []string{
		string(bailiff.ApprovalApproved), string(bailiff.ApprovalDenied), string(bailiff.ApprovalExpired),
		string(bailiff.ApprovalVoid), string(bailiff.ApprovalCancelled), string(bailiff.ApprovalUnreachable), "unanswerable", refused,
	}
	shares      = []string{"caller", "session", "user"}
	forwardings = []string{"ok", "moved", "unreachable", "refused", "lost"}
	directions  = []api.Direction{api.Looser, api.Stricter, api.Sideways}
	scopes      = []string{bailiff.ScopeOnce, bailiff.ScopeSession, bailiff.ScopeAlways}
)

func toolLabel(t bailiff.Tool) string     { return oneOf(tools, t) }
func statusLabel(s bailiff.Status) string { return oneOf(statuses, s) }
func reasonLabel(reason string) string    { return oneOf(reasons, reason) }
func resolutionLabel(r string) string     { return oneOf(resolutions, r) }

// deepest is the depth of agents that is a label of its own.
const deepest = 4

func depthLabel(depth int) string {
	if depth > deepest {
		return "more"
	}
	return strconv.Itoa(depth)
}

func scopeLabel(scope string) string {
	if scope == "" {
		return none
	}
	return oneOf(scopes, scope)
}
func oneOf[S ~string](known []S, s S) string {
	if slices.Contains(known, s) {
		return string(s)
	}
	return other
}

// labels decide what a label may say.
type labels struct {
	backends  map[string]bool
	listeners atomic.Pointer[map[string]bool]
	tables    atomic.Pointer[tables]

	mu    sync.RWMutex
	rules map[string]bool
}

type tables struct{ platforms, variables map[string]bool }

func newLabels(backends []string) *labels {
	l := &labels{backends: set(backends), rules: map[string]bool{}}
	l.listeners.Store(&map[string]bool{})
	return l
}

// know replaces the tables; "cli" is always a platform.
func (l *labels) know(platforms, variables []string) {
	l.tables.Store(&tables{set(append([]string{"cli"}, platforms...)), set(variables)})
}

func set(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

func (l *labels) platform(name string) string { return member(l.tables.Load().platforms, name) }
func (l *labels) variable(name string) string { return member(l.tables.Load().variables, name) }

func (l *labels) backend(name string) string {
	if name == "" {
		return none
	}
	return member(l.backends, name)
}

func member(known map[string]bool, name string) string {
	if known[name] {
		return name
	}
	return other
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,99}$`)

// rule lets a rule's name through if it is one and not one too many.
func (l *labels) rule(name string) string {
	l.mu.RLock()
	known := l.rules[name]
	l.mu.RUnlock()
	if known || l.learn(name) {
		return name
	}
	return other
}

func (l *labels) learn(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rules[name] {
		return true
	}
	if len(l.rules) >= maxRules || !ruleName.MatchString(name) {
		return false
	}
	l.rules[name] = true
	return true
}
