package lease

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

// Workdir is where a session's last command ended, and in which sandbox.
type Workdir struct {
	lease *Lease
	// Path is empty if it is not known.
	Path string
	// InWorkspace says that it is where commands start that name no folder.
	InWorkspace bool
}

// Workdir is where a session's last command ended.
func (p *Pool) Workdir(caller, session string) Workdir {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.workdirs[supply.Hash(caller, session)]
	if at.lease == nil || !at.lease.Alive() && !at.staysLocked() {
		return Workdir{}
	}
	return at
}

// StartFolder is where a backend begins commands that name no folder, empty if that is not
// known.
func (p *Pool) StartFolder(backend string) string {
	if starter, ok := p.config.Backends[backend].(backends.Starter); ok && isFolder(starter.Start()) {
		return starter.Start()
	}
	return ""
}

// workspace is where isolating backends show the files of a session.
const workspace = "/workspace"

// staysLocked says whether a folder outlasts its sandbox, which failed: it is one of the
// files that stay.
func (at Workdir) staysLocked() bool {
	_, keeps := at.lease.maker.(backends.Keeper)
	lost := at.lease.retired == reasonFailed || at.lease.retired == "" && !at.lease.Alive()
	return keeps && lost && !at.lease.alone && (at.Path == workspace || strings.HasPrefix(at.Path, workspace+"/"))
}

// Serves says whether a spec's request is one that starts there.
func (at Workdir) Serves(t Spec) bool {
	at.lease.pool.mu.Lock()
	defer at.lease.pool.mu.Unlock()
	if at.lease.Alive() {
		return at.lease.servesLocked(t)
	}
	return at.lease.slot == t.slot
}

// moveWorkdirsLocked has the folders that outlasted a sandbox be those of the one that
// replaces it.
func (p *Pool) moveWorkdirsLocked(l *Lease) {
	for of, at := range p.workdirs {
		if at.lease.slot == l.slot && at.lease != l && at.staysLocked() {
			at.lease, l.stale = l, true
			p.workdirs[of] = at
		}
	}
}

// isFolder says whether a path that comes from within a sandbox names a folder, and
// only one.
func isFolder(path string) bool {
	return len(path) <= bailiff.MaxWorkdir && filepath.IsAbs(path) && filepath.Clean(path) == path && !strings.ContainsRune(path, 0) &&
		utf8.ValidString(path)
}

// moved remembers where a session's command ended; a path that is no folder's
// forgets it.
func (p *Pool) moved(l *Lease, caller, session, path string, inWorkspace bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.alone {
		return // no request comes back to its folders
	}
	now, of := Workdir{l, path, inWorkspace}, supply.Hash(caller, session)
	l.stale = l.stale || p.workdirs[of] != now
	if !isFolder(path) || l.removed {
		delete(p.workdirs, of)
		return
	}
	p.workdirs[of] = now
}
