package enforcer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

// tenant is who wants a sandbox, and what it must be like.
type tenant struct {
	caller, session string
	backend         string
	// user is who counts for bounds; empty where the request names nobody.
	user string
	// slot is what a tenant has at most one of: a scope's identity and a backend.
	slot string
	// shared is set when the sandbox is a user's, whatever the session.
	shared bool
	// alone is set when nobody else, and no later request, may share the sandbox.
	alone bool
	// persistent is set when the files stay though the sandbox goes.
	persistent bool
	// idle is how long the sandbox stays that nobody uses, age how long it stays at most.
	idle, age time.Duration
	spec      backends.Spec
}

// tenancy derives from a decision who may share the sandbox of a request.
func tenancy(req bailiff.Request, d bailiff.Decision, owner string) tenant {
	t := tenant{
		caller: req.Caller, session: req.Session.ID, backend: d.Backend.Name,
		alone: d.Backend.Scope == "request" || len(d.Env.Sealed) > 0,
		idle:  time.Duration(d.Backend.IdleSeconds) * time.Second, age: maxAge,
	}
	if req.Session.UserID != "" {
		t.user = hash(req.Caller, req.Session.Platform, req.Session.UserID)
	}
	if d.Backend.MaxSeconds > 0 {
		t.age = time.Duration(d.Backend.MaxSeconds) * time.Second
	}
	scope := []string{"session", req.Caller, req.Session.ID}
	switch {
	case t.alone:
		scope = []string{"request", audit.NewID()}
	case d.Backend.Scope == "user" && req.Session.UserID != "":
		t.shared = true
		scope = []string{"user", req.Caller, req.Session.Platform, req.Session.UserID}
	}
	t.slot = hash(append(scope, d.Backend.Name)...)
	t.spec = backends.Spec{
		Owner: owner, Session: hash(req.Caller, req.Session.ID), Image: d.Backend.Image, Network: d.Backend.Network,
		CPUs: d.Backend.CPUs, MemoryMB: d.Backend.MemoryMB, DiskMB: d.Backend.DiskMB, PIDs: d.Backend.PIDs,
		ReadOnly: d.Backend.ReadOnly, Mounts: d.Backend.Mounts,
	}
	if !t.alone {
		t.spec.Workspace, t.persistent = hash(scope...), d.Backend.Persistent
	}
	return t
}

// files names a tenant's workspace among those of all backends; empty if it has none
// that could outlive its sandbox.
func (t tenant) files() string {
	if t.spec.Workspace == "" {
		return ""
	}
	return keptKey(t.backend, t.spec.Workspace)
}

// sharesFiles says whether two tenants work on the same files.
func (t tenant) sharesFiles(with tenant) bool { return t.files() != "" && t.files() == with.files() }

// hash names something by its parts, so that no part of a chat's identity ends
// up in a label or a path.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// serves says whether a tenant's request would be in this lease. The image does
// not count: a tenant's may be one that is not pinned yet.
func (l *lease) serves(t tenant) bool {
	t.spec.Image = l.spec.Image
	return l.slot == t.slot && l.fits(t)
}

// fits says whether a tenant may use a sandbox that was made for another request.
func (l *lease) fits(t tenant) bool {
	return l.alive() && time.Now().Before(l.expires) && l.fingerprint == fingerprint(t.spec)
}

func fingerprint(spec backends.Spec) string {
	spec.Expires = time.Time{}
	spec.Session = ""   // a user's sandbox serves several of their sessions
	spec.Workspace = "" // a slot has one, however it is called
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // strings, numbers and booleans only: cannot fail
	}
	return hash(string(text))
}
