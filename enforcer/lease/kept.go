package lease

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

const (
	// keptFor is how long the files of an unused persistent workspace stay.
	keptFor = 30 * 24 * time.Hour
	// usedAgain is after how long another use is written down.
	usedAgain = time.Hour
)

// kept are the workspaces that stay when their sandbox goes. What is here is on
// disk, so that no sweep of any run of this sidecar takes them for left over.
type kept struct {
	ledger ledger.Entries[ledger.Workspace]
	log    *slog.Logger

	writing sync.Mutex // orders what is written; never taken with mu held
	mu      sync.Mutex
	all     map[string]ledger.Workspace // by key
}

// readKept reads what is kept. A fault must end the start: what is not known would
// be swept.
func readKept(l ledger.Entries[ledger.Workspace], log *slog.Logger) (*kept, error) {
	entries, err := l.All()
	if err != nil {
		return nil, fmt.Errorf("reading which workspaces are kept: %w", err)
	}
	k := &kept{ledger: l, log: log, all: map[string]ledger.Workspace{}}
	for _, w := range entries {
		if w.Used.IsZero() { // it could not be read when
			w.Used = time.Now()
		}
		k.all[w.Key()] = w
	}
	return k, nil
}

// keep has a workspace stay for a while from now on.
func (k *kept) keep(w ledger.Workspace) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	w.Used = time.Now().UTC()
	if old, ok := k.get(w.Key()); ok && old.Slot == w.Slot && slices.Equal(old.Variables, w.Variables) && w.Used.Sub(old.Used) < usedAgain {
		return nil
	}
	if err := k.ledger.Keep(w); err != nil {
		return fmt.Errorf("remembering that its files stay: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[w.Key()] = w
	return nil
}

// letGo keeps a workspace no longer. A request that comes to it must be waiting.
func (k *kept) letGo(key string) {
	k.writing.Lock()
	defer k.writing.Unlock()
	if _, is := k.get(key); !is {
		return
	}
	if err := k.ledger.Drop(key); err != nil {
		k.log.Error("forgetting a workspace that was kept", "workspace", key, "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, key)
}

func (k *kept) get(key string) (ledger.Workspace, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w, ok := k.all[key]
	return w, ok
}

// find lists those that match.
func (k *kept) find(match func(ledger.Workspace) bool) (found []ledger.Workspace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.all {
		if match(w) {
			found = append(found, w)
		}
	}
	return found
}

func keptKey(backend, workspace string) string {
	return ledger.Workspace{Backend: backend, Name: workspace}.Key()
}

// isUnused says whether a workspace was unused for so long that it may go.
func isUnused(w ledger.Workspace) bool { return time.Since(w.Used) >= keptFor }

// names are the workspaces by the scopes that find them again.
func (k *kept) names() map[string]string {
	names := map[string]string{}
	for _, w := range k.find(func(w ledger.Workspace) bool { return w.Slot != "" }) {
		names[w.Slot] = w.Name
	}
	return names
}

// remember has the files of a lease stay if they are to.
func (p *Pool) remember(l *Lease) error {
	p.mu.Lock()
	w, persistent := l.workspaceLocked(), l.persistent
	p.mu.Unlock()
	if !persistent {
		return nil
	}
	return p.kept.keep(w)
}

// workspaceLocked is the entry of a lease's workspace.
func (l *Lease) workspaceLocked() ledger.Workspace {
	return ledger.Workspace{Backend: l.backend, Name: l.spec.Workspace, Slot: l.slot, Caller: l.caller, Session: l.session,
		Shared: l.shared, Variables: l.givenNamesLocked()}
}
