package budget

import (
	"time"

	"github.com/bailiff-dev/bailiff"
)

// account has the counters of one user, chat or platform, or of all, as they are kept.
type account struct {
	ID       string              `json:"id"`
	Counters map[string]*counter `json:"counters,omitempty"`
	// Damaged is the day on which the file could not be read.
	Damaged string `json:"damaged,omitempty"`
}

// Key is the name of the account's file.
func (a *account) Key() string { return a.ID }

// isOver says that nothing is used of any counter.
func (a *account) isOver(now time.Time) bool {
	for _, c := range a.Counters {
		at := *c
		if at.renew(now); at.Used > 0 || len(at.Asked) > 0 {
			return false
		}
	}
	return a.Damaged != now.UTC().Format(time.DateOnly)
}

// counter is what was used of one budget since its window began.
type counter struct {
	Count  string    `json:"count"`
	Window string    `json:"window"`
	Since  time.Time `json:"since"`
	// Latest is a window that began later, by a clock that went back since.
	Latest time.Time `json:"latest,omitzero"`
	// Used is in units that are finer than the budget's for seconds and MB.
	Used int64 `json:"used"`
	// Asked are the digests of what people were asked about.
	Asked []string `json:"asked,omitempty"`
}

// unitOf is how many of a counter's units are one of the budget's: seconds are counted in thousandths, MB in bytes.
func unitOf(count string) int64 {
	switch count {
	case bailiff.CountRunSeconds:
		return 1000
	case bailiff.CountUploadMB:
		return 1 << 20
	}
	return 1
}

// lengthOf is how long a window is; 0 if there is none of that name.
func lengthOf(window string) time.Duration {
	return map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[window]
}

// counter is the one of a budget. Of a budget whose row counts something else by now it begins anew, of one with another window
// what was used still counts.
func (a *account) counter(b bailiff.Budget, now time.Time) *counter {
	c := a.Counters[b.Name]
	if c == nil || c.Count != b.Count {
		c = &counter{Count: b.Count, Window: b.Window, Since: now.UTC().Truncate(lengthOf(b.Window))}
		if a.Counters == nil {
			a.Counters = map[string]*counter{}
		}
		a.Counters[b.Name] = c
	}
	if c.Window != b.Window {
		c.Window, c.Since = b.Window, now.UTC().Truncate(lengthOf(b.Window))
	}
	c.renew(now)
	return c
}

// renew begins anew once the window is over. Where the clock went back what was used still counts, until a window begins that
// never began before; one that is further ahead than its own length was begun by a clock that was wrong, and is taken for the present.
func (c *counter) renew(now time.Time) {
	start := now.UTC().Truncate(lengthOf(c.Window))
	switch {
	case start.After(c.Since):
		if !start.Equal(c.Latest) {
			c.Used, c.Asked = 0, nil
		}
		c.Since = start
	case c.Since.Sub(start) > lengthOf(c.Window):
		if c.Since.After(c.Latest) {
			c.Latest = c.Since
		}
		c.Since = start
	}
}

// isSound says that a counter is one that could have been written.
func (c *counter) isSound() bool {
	return c != nil && c.Used >= 0 && lengthOf(c.Window) > 0 && !c.Since.IsZero()
}

// usedBy is what others than a request used, in the budget's unit, a part of one counted as a whole.
func (c *counter) usedBy(a Asker, now time.Time) int {
	at := *c
	at.renew(now)
	switch {
	case at.Count == bailiff.CountQuestions:
		return len(at.Asked)
	case at.Count == bailiff.CountRunSeconds && (a.Request.Within || a.Request.Tool == bailiff.Process):
		return 0
	}
	unit := unitOf(at.Count)
	return int((at.Used + unit - 1) / unit)
}
