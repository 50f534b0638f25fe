package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
)

const (
	// recentLines and recentBytes are how much of the log's end is remembered,
	// whichever is less; one line always is.
	recentLines = 1000
	recentBytes = 8 << 20
	// loadedLines is how many lines of earlier runs are.
	loadedLines = 200
	// watchBuffer is how far a watcher may lag before it loses lines.
	watchBuffer = 256
)

// Recent returns the latest lines, of a session unless that is empty, the newest
// first. Those of this run lack the chain's fields. Memory holds the last 1,000
// lines, or as many as fit in 8 MiB, and 200 of earlier runs; the files hold all.
func (l *Log) Recent(session string, limit int) (lines [][]byte) {
	return l.end.latest(session, limit)
}

// Watch returns a channel of the lines that are written from now on, and what
// ends it. Whoever reads too slowly finds a nil line in place of those it missed.
// The channel is closed by stop and by [Log.Close].
func (l *Log) Watch() (lines <-chan []byte, stop func()) { return l.end.watch() }

// recent is the end of the log in memory, for those who look at it while it is
// written.
type recent struct {
	mu       sync.Mutex
	lines    []remembered // the oldest first
	bytes    int
	watchers map[*watcher]bool
	closed   bool
}

// remembered is a line without the braces that close it, if open.
type remembered struct {
	session string
	line    []byte
	open    bool
}

// watcher is one who reads along. Only send sends, under the lock.
type watcher struct {
	lines chan []byte
	lost  bool
}

func (r *recent) latest(session string, limit int) (lines [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.lines) - 1; i >= 0 && len(lines) < limit; i-- {
		if l := r.lines[i]; session == "" || l.session == session {
			lines = append(lines, l.whole())
		}
	}
	return lines
}

func (r *recent) watch() (lines <-chan []byte, stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &watcher{lines: make(chan []byte, watchBuffer)}
	if r.closed {
		close(w.lines)
		return w.lines, func() {}
	}
	if r.watchers == nil {
		r.watchers = map[*watcher]bool{}
	}
	r.watchers[w] = true
	return w.lines, func() { r.remove(w) }
}

func (r *recent) remove(w *watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watchers[w] {
		delete(r.watchers, w)
		close(w.lines)
	}
}

func (r *recent) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for w := range r.watchers {
		close(w.lines)
	}
	r.watchers = nil
}

// load remembers what earlier runs wrote.
func (r *recent) load(stateDir string) error {
	return Tail(context.Background(), stateDir, loadedLines, false, func(line []byte) error {
		if session, ok := sessionOf(line); ok {
			r.keep(remembered{session, append([]byte(nil), line...), false})
		}
		return nil
	})
}

// sessionOf reads only the end of a line, which may be long: no key custom comes
// after the event's own. A line that is none is for [Verify] to find.
func sessionOf(line []byte) (session string, ok bool) {
	const key = `"custom":`
	var custom struct {
		Session string `json:"session"`
	}
	at := bytes.LastIndex(line, []byte(key))
	if at < 0 {
		return "", false
	}
	err := json.NewDecoder(bytes.NewReader(line[at+len(key):])).Decode(&custom)
	return custom.Session, err == nil
}

// add remembers what was written and tells those who watch.
func (r *recent) add(batch []entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range batch {
		l := remembered{e.session, e.line, true}
		r.keep(l)
		if len(r.watchers) == 0 {
			continue
		}
		whole := l.whole()
		for w := range r.watchers {
			w.send(whole)
		}
	}
}

func (r *recent) keep(l remembered) {
	r.lines = append(r.lines, l)
	r.bytes += cap(l.line)
	for len(r.lines) > recentLines || r.bytes > recentBytes && len(r.lines) > 1 {
		r.bytes -= cap(r.lines[0].line)
		r.lines[0] = remembered{}
		r.lines = r.lines[1:]
	}
}

func (l remembered) whole() []byte {
	line := append(make([]byte, 0, len(l.line)+2), l.line...)
	if l.open {
		line = append(line, "}}"...)
	}
	return line
}

// send never waits: the last place of the buffer is kept for saying that what
// follows was lost.
func (w *watcher) send(line []byte) {
	room := cap(w.lines) - len(w.lines)
	switch {
	case room > 1:
		w.lost = false
		w.lines <- line
	case !w.lost && room > 0:
		w.lost = true
		w.lines <- nil
	}
}
