package enforcer

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
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

// board shows the last step of what many may wait for.
type board struct {
	mu      sync.Mutex
	step    string
	changed chan struct{} // closed when another step is taken; nil before anybody looked
}

func (b *board) post(step string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.step = step
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

func (b *board) look() (step string, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.step, b.changed
}

// follow tells steps on until what they are taken for is done.
func (b *board) follow(ctx context.Context, done <-chan struct{}) error {
	for {
		step, changed := b.look()
		backends.Step(ctx, "%s", step)
		select {
		case <-done:
			return nil
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// await waits until a lease's sandbox is there, or failed, and tells the steps of its
// opening on.
func (l *lease) await(ctx context.Context) error {
	if l.isOpening() {
		if err := l.steps.follow(ctx, l.ready); err != nil {
			return err
		}
	}
	return l.err
}
