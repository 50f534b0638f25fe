package export

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// pacer has more written while it takes the first batches, each time a text of so many bytes, and notes when it was asked.
type pacer struct {
	log   *audit.Log
	write []int
	asked []time.Duration
	began time.Time
}

func (p *pacer) Send(ctx context.Context, _ [][]byte, began func(), _ func(error)) error {
	began()
	p.asked = append(p.asked, time.Since(p.began))
	if len(p.write) == 0 {
		return nil
	}
	now := p.write[0]
	p.write = p.write[1:]
	return p.log.Record(ctx, api.Event{DecisionID: "more", Custom: api.Custom{Event: api.DecisionEvent, Message: strings.Repeat("x", now)}})
}

func (*pacer) String() string         { return "the pacer" }
func (*pacer) Blames(error) bool      { return false }
func (*pacer) Settles() time.Duration { return 0 }
func (*pacer) Close()                 {}

func TestAnExportThatIsBehindDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		log, err := audit.Open(audit.Config{StateDir: dir})
		must(t, err)
		defer func() { must(t, log.Close()) }()
		record(t, log, "1")
		p := &pacer{log: log, began: time.Now(), write: []int{2 * batchBytes, 10}}
		e, err := New(Config{StateDir: dir, Cursor: "c.json", Receiver: p, Observer: &counted{}, Log: slog.New(slog.DiscardHandler)})
		must(t, err)
		ctx, stop := context.WithTimeout(t.Context(), 3*lookEvery)
		defer stop()
		e.Run(ctx, log.Written)
		if len(p.asked) != 3 || p.asked[1] != p.asked[0] || p.asked[2] != p.asked[1]+lookEvery {
			t.Errorf("it was asked after %v, want at once while a batch is there, and else every %v", p.asked, lookEvery)
		}
	})
}
