package approval

import "sync"

// watchBuffer is how far a watcher may lag before it loses changes.
const watchBuffer = 256

// watchers are those who want to hear of changes.
type watchers struct {
	mu     sync.Mutex
	all    map[*watcher]bool
	closed bool
}

// watcher is one of them. Only tell sends, under the lock.
type watcher struct {
	changes chan Change
	lost    bool
}

// Watch returns a channel of changes from now on, and what ends it. Whoever
// reads too slowly finds a change that says Lost in place of those it missed.
// The channel is closed by stop and by [Book.Close].
func (b *Book) Watch() (changes <-chan Change, stop func()) {
	w := &watcher{changes: make(chan Change, watchBuffer)}
	b.watchers.add(w)
	return w.changes, func() { b.watchers.remove(w) }
}

func (ws *watchers) add(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		close(w.changes)
		return
	}
	if ws.all == nil {
		ws.all = map[*watcher]bool{}
	}
	ws.all[w] = true
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all[w] {
		delete(ws.all, w)
		close(w.changes)
	}
}

func (ws *watchers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for w := range ws.all {
		close(w.changes)
	}
	ws.all = nil
}

func (ws *watchers) tell(t step) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.all) == 0 {
		return
	}
	for _, c := range t.changes() {
		for w := range ws.all {
			w.send(c)
		}
	}
}

// lose tells every watcher that it must read anew.
func (ws *watchers) lose() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		w.send(Change{Lost: true})
	}
}

// send never waits: the last place of the buffer is kept for saying that what
// follows was lost.
func (w *watcher) send(c Change) {
	room := cap(w.changes) - len(w.changes)
	switch {
	case room > 1:
		w.lost = false
		w.changes <- c
	case !w.lost:
		w.lost = true
		w.changes <- Change{Lost: true}
	}
}
