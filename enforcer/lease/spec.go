package lease

import (
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// Spec is who a sandbox is for, and what it must be like. [Pool.SpecOf] makes one.
type Spec struct {
	// by is the session whose request it is.
	by bailiff.Session
	// peer is the credential by which that came in: on the command line it says who asks.
	peer string
	// exclusive asks for a hold beside which nothing else is alive in the sandbox.
	exclusive       bool
	caller, session string
	backend         string
	// user counts for bounds; empty where the request names none.
	user string
	// slot is what has at most one sandbox: a scope's identity and a backend.
	slot string
	// shared is set when the sandbox is a user's, whatever the session.
	shared bool
	// alone is set when no other session, and no later request, may share the sandbox.
	alone bool
	// persistent is set when the files stay though the sandbox goes.
	persistent bool
	// guarded is set when it may write a folder of the host that has protected files: there a
	// command ends with all that it started.
	guarded bool
	// idle is how long the sandbox stays that no request uses, age how long it stays at most.
	idle, age time.Duration
	spec      backends.Spec
	// holder is whose caches the sandbox shows, if it shows any: a user, and projects. A sandbox that stands serves
	// requests of its session in other projects too.
	holder []string
}

// SpecOf derives from a decision who may share the sandbox of a request.
func (p *Pool) SpecOf(req bailiff.Request, d bailiff.Decision) Spec {
	t := Spec{
		by: req.Session, peer: req.Peer,
		caller: req.Caller, session: req.Session.ID, backend: d.Backend.Name,
		alone: d.Backend.Scope == "request" || len(d.Env.Sealed) > 0,
		idle:  time.Duration(d.Backend.IdleSeconds) * time.Second, age: maxAge,
	}
	if req.Session.UserID != "" {
		t.user = supply.Hash(req.Caller, req.Session.Platform, req.Session.UserID)
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
	t.slot = supply.Hash(append(scope, d.Backend.Name)...)
	own := p.ownMounts(d.Backend.Name, d.Backend.Mounts)
	mounts, guarded := shown(Guarded(d.Backend.Mounts, own))
	t.guarded = guarded || len(own) > 0
	t.spec = backends.Spec{
		Owner: p.config.Owner, Session: supply.Hash(req.Caller, req.Session.ID), Image: d.Backend.Image, Runtime: d.Backend.Runtime,
		Network: d.Backend.Network,
		CPUs:    d.Backend.CPUs, MemoryMB: d.Backend.MemoryMB, DiskMB: d.Backend.DiskMB, PIDs: d.Backend.PIDs,
		WorkspaceMB: d.Backend.WorkspaceMB, WorkspaceFiles: d.Backend.WorkspaceFiles, ReadOnly: d.Backend.ReadOnly, Mounts: mounts,
		Own: own, Places: placesOf(d.Backend.Mounts, slices.Concat(mounts, own)),
	}
	t.holder = t.holderOf(d.Backend.Mounts, req.Args.Workdir)
	if !t.alone {
		t.spec.Workspace, t.persistent = supply.Hash(scope...), d.Backend.Persistent
	}
	return t
}

// Exclusive is the spec of a request that must be alone in the sandbox.
func (t Spec) Exclusive() Spec {
	t.exclusive = true
	return t
}

// files names a spec's workspace among those of all backends; empty if it has none
// that could outlive its sandbox.
func (t Spec) files() string {
	if t.spec.Workspace == "" {
		return ""
	}
	return keptKey(t.backend, t.spec.Workspace)
}

// sharesFiles says whether two specs work on the same files.
func (t Spec) sharesFiles(with Spec) bool { return t.files() != "" && t.files() == with.files() }

// servesLocked says whether a spec's request would be in this lease. The image does not
// count: it may be one that is not pinned yet.
func (l *Lease) servesLocked(t Spec) bool {
	t.spec.Image = l.spec.Image
	return l.slot == t.slot && l.fitsLocked(t)
}

// WouldServe says whether a decision's sandbox would be like this one, whatever session
// it is for. The image does not count: it may be one that is not pinned yet.
func (l *Lease) WouldServe(req bailiff.Request, d bailiff.Decision) bool {
	t := l.pool.SpecOf(req, d)
	t.spec.Image = l.spec.Image
	return l.backend == t.backend && l.fingerprint == supply.Fingerprint(t.spec)
}

// fitsLocked says whether a spec's request may use a sandbox that was made for another one.
func (l *Lease) fitsLocked(t Spec) bool {
	return l.Alive() && time.Now().Before(l.expires) && l.fingerprint == supply.Fingerprint(t.spec)
}
