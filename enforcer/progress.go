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

// progress tells the news of one request, one piece after the other, and nothing once
// the request has ended: what takes a step may tell of it late.
type progress struct {
	mu    sync.Mutex
	news  func(bailiff.Progress)
	step  string
	at    time.Time
	ended bool
}

func (p *progress) tell(news bailiff.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.news(news)
	}
}

// tellStep leaves out what was told already, and what comes too fast.
func (p *progress) tellStep(what string) {
	what = plain(what)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || what == "" || what == p.step || time.Since(p.at) < stepPause {
		return
	}
	p.step, p.at = what, time.Now()
	p.news(bailiff.Progress{Step: what})
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
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
