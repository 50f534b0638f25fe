package audit

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// health says whether events come to the disk.
type health struct {
	log *slog.Logger
	// writing is why what came last to the writer is not on disk, wording why the last
	// event that had to be masked or scrubbed was not.
	writing, wording outage.Outage
	// failedAt is how many lines there were when writing failed last. Only the writer's
	// goroutine uses it.
	failedAt int64
}

func (h *health) err() error { return cmp.Or(h.writing.Err(), h.wording.Err()) }

// written takes in how writing ended, with so many lines at the writer and so many of
// them on disk. Only what came after a failure ends it: lines that were written before
// it may come to the disk later.
func (h *health) written(err error, at, synced int64) {
	if err != nil {
		h.failedAt = at
		h.noteFailure(&h.writing, err)
	} else if synced > h.failedAt {
		h.writing.Set(nil)
	}
}

// noteWording takes in how wording an event ended that holds what humans and programs told.
// A request that was broken off meanwhile says nothing.
func (h *health) noteWording(ctx context.Context, err error) {
	if err == nil {
		h.wording.Set(nil)
	} else if ctx.Err() == nil {
		h.noteFailure(&h.wording, err)
	}
}

func (h *health) noteFailure(o *outage.Outage, err error) {
	if o.Set(err) {
		h.log.Error("the decision log cannot be written; nothing runs until it can", "error", err)
	}
}
