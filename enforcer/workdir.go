package enforcer

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// workdir is where a session's last command ended, and in which sandbox.
type workdir struct {
	lease *lease
	path  string
	// inWorkspace says that it is where commands start that name no folder.
	inWorkspace bool
}

// workdir is where a session's last command ended, and the lease it did in.
func (ls *leases) workdir(caller, session string) workdir {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	at := ls.workdirs[hash(caller, session)]
	if at.lease == nil || !at.lease.alive() && !at.stays() {
		return workdir{}
	}
	return at
}

// workspace is where isolating backends show the files of a session.
const workspace = "/workspace"

// stays says whether a folder outlasts its sandbox, which failed: it is one of the
// files that stay.
func (at workdir) stays() bool {
	_, keeps := at.lease.maker.(backends.Keeper)
	lost := at.lease.retired == reasonFailed || at.lease.retired == "" && !at.lease.alive()
	return keeps && lost && !at.lease.alone && (at.path == workspace || strings.HasPrefix(at.path, workspace+"/"))
}

// leads says whether a tenant's request is one that starts there.
func (at workdir) leads(t tenant) bool {
	if at.lease.alive() {
		return at.lease.serves(t)
	}
	return at.lease.slot == t.slot
}

// followTo has the folders that outlasted a sandbox be those of the one that
// replaces it.
func (ls *leases) followTo(l *lease) {
	for of, at := range ls.workdirs {
		if at.lease.slot == l.slot && at.lease != l && at.stays() {
			at.lease, l.stale = l, true
			ls.workdirs[of] = at
		}
	}
}

// isFolder says whether a path that comes from within a sandbox names a folder, and
// only one.
func isFolder(path string) bool {
	return len(path) <= bailiff.MaxWorkdir && filepath.IsAbs(path) && filepath.Clean(path) == path && !strings.ContainsRune(path, 0) && utf8.ValidString(path)
}

// moved remembers where a session's command ended; a path that is no folder's
// forgets it.
func (ls *leases) moved(l *lease, caller, session, path string, inWorkspace bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.alone {
		return // nobody comes back to its folders
	}
	now, of := workdir{l, path, inWorkspace}, hash(caller, session)
	l.stale = l.stale || ls.workdirs[of] != now
	if !isFolder(path) || l.removed {
		delete(ls.workdirs, of)
		return
	}
	ls.workdirs[of] = now
}
