package report

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/recent"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

const (
	// maxKept is how many reports are remembered.
	maxKept = 8
	// leastKept is how long a report is remembered at least, keptFor how many times as long as its making took: the log is read in
	// a small part of the time only, however often people ask.
	leastKept = time.Minute
	keptFor   = 10
	// longest is how long a report may take.
	longest = 2 * time.Minute
)

var errTooLong = errors.New("it takes longer than two minutes; ask for fewer days, or run \"bailiff report\" beside the sidecar")

// Keeper makes reports of the log that a sidecar is writing: one at a time, by one processor, and no longer than people wait for it. It
// remembers them for a while.
type Keeper struct {
	stateDir string
	making   sync.Mutex
	kept     *recent.Map[int, kept]
	now      func() time.Time
}

// kept is a report that is remembered until a time.
type kept struct {
	api.Report
	until time.Time
}

// NewKeeper is that of a state folder.
func NewKeeper(stateDir string) *Keeper {
	return &Keeper{stateDir: stateDir, kept: recent.New[int, kept](maxKept), now: time.Now}
}

// Report is what the log tells of the last days.
func (k *Keeper) Report(ctx context.Context, days int) (api.Report, error) {
	began := k.now()
	if known, ok := k.kept.Get(days); ok && began.Before(known.until) {
		return known.Report, nil
	}
	if !k.making.TryLock() {
		return api.Report{}, fmt.Errorf("%w: another report is being made; try again in a moment", api.ErrBusy)
	}
	defer k.making.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	made, err := k.read(ctx, began.AddDate(0, 0, -days))
	if ctx.Err() != nil {
		return api.Report{}, context.Cause(ctx)
	}
	if err != nil {
		return api.Report{}, err
	}
	told := api.Report{AsOf: began.UTC(), Days: days, Summary: made.Summary(), Tables: made.Tables()}
	ended := k.now()
	k.kept.Put(days, kept{told, ended.Add(max(leastKept, keptFor*ended.Sub(began)))})
	return told, nil
}

// read sums up what was written since a moment. The line that is being written does not count.
func (k *Keeper) read(ctx context.Context, since time.Time) (Report, error) {
	from, err := audit.WrittenSince(k.stateDir, since)
	if err != nil {
		return Report{}, err
	}
	t := newTally(since)
	err = audit.ReadFrom(ctx, k.stateDir, from, func(text []byte, _ audit.Position) error {
		t.add(read(text, since))
		return nil
	})
	return t.report(), err
}
