package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/feed"
)

const (
	// recentLines and recentBytes are how much of the log's end is remembered,
	// whichever is less; one line always is.
	recentLines = 1000
	recentBytes = 8 << 20
	// loadedLines is how many lines of earlier runs are.
	loadedLines = 200
)

// Recent returns the latest lines, of a session unless that is empty, the newest
// first. Those of this run lack the chain's fields. Memory holds the last 1,000
// lines, or as many as fit in 8 MiB, and 200 of earlier runs; the files hold all.
func (l *Log) Recent(session string, limit int) (lines [][]byte) {
	return l.end.latest(session, limit)
}

// Watch returns a channel of the lines that are written from now on, and what
// ends it. A reader that is too slow finds a nil line in place of those it missed.
// The channel is closed by stop and by [Log.Close].
func (l *Log) Watch() (lines <-chan []byte, stop func()) { return l.end.news.Watch() }

// recent is the end of the log in memory, for those who look at it while it is
// written.
type recent struct {
	mu    sync.Mutex
	lines []remembered // the oldest first
	bytes int
	news  feed.Feed[[]byte]
}

// remembered is a line without the braces that close it, if open.
type remembered struct {
	session string
	line    []byte
	open    bool
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

// load remembers what earlier runs wrote.
func (r *recent) load(stateDir string) error {
	return Tail(context.Background(), stateDir, Selection{Last: loadedLines}, func(line []byte) error {
		if session, ok := sessionOf(line); ok {
			r.keep(remembered{session, append([]byte(nil), line...), false})
		}
		return nil
	})
}

// sessionOf reads only the end of a line, which may be long. A line that is none is
// for [Verify] to find.
func sessionOf(line []byte) (session string, ok bool) {
	var custom api.Custom
	err := json.NewDecoder(bytes.NewReader(customOf(line))).Decode(&custom)
	return custom.Session, err == nil
}

// add remembers what was written and tells those who watch.
func (r *recent) add(batch []entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range batch {
		r.keep(e.recentEntry())
	}
	r.news.Tell(func() (lines [][]byte) {
		for _, e := range batch {
			lines = append(lines, e.recentEntry().whole())
		}
		return lines
	})
}

func (e entry) recentEntry() remembered { return remembered{e.session, e.line, true} }

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
