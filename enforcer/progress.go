package enforcer

import (
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bailiff-dev/bailiff"
)

const (
	// stepPause is how often at most a caller is told of steps, stepLength how much of
	// one, in characters.
	stepPause  = 100 * time.Millisecond
	stepLength = 200
)

// teller tells the news of one request, one piece after the other, and nothing once
// the request has ended: steps are told by whoever takes them, who may be late.
type teller struct {
	mu    sync.Mutex
	news  func(bailiff.Progress)
	step  string
	at    time.Time
	ended bool
}

func (t *teller) tell(p bailiff.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.news(p)
	}
}

// tellStep leaves out what was told already, and what comes too fast.
func (t *teller) tellStep(what string) {
	what = plain(what)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || what == "" || what == t.step || time.Since(t.at) < stepPause {
		return
	}
	t.step, t.at = what, time.Now()
	t.news(bailiff.Progress{Step: what})
}

func (t *teller) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// plain is one short line that does nothing to a terminal.
func plain(what string) string {
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, what))
	return strings.TrimSpace(string(line[:min(len(line), stepLength)]))
}
