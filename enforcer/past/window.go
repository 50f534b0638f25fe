package past

import (
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// grain is how exactly it is known when something was.
const grain = 10 * time.Second

// window counts what was within a day, oldest first: pairs of a time, in grains since 1970, and a number.
type window [][2]int64

// add counts at a time. Where the clock went back it is the last one's.
func (w *window) add(at time.Time, n int64) {
	now := at.Unix() / int64(grain/time.Second)
	day := int64(24 * time.Hour / grain)
	*w = slices.DeleteFunc(*w, func(slot [2]int64) bool { return slot[0] < now-day })
	if last := len(*w) - 1; last >= 0 && (*w)[last][0] >= now {
		(*w)[last][1] += n
		return
	}
	*w = append(*w, [2]int64{now, n})
}

// counts are the numbers until now.
func (w window) counts(now time.Time) (c bailiff.WindowCount) {
	at := now.Unix() / int64(grain/time.Second)
	since := func(d time.Duration) int64 { return at - int64(d/grain) }
	minute, hour, day := since(time.Minute), since(time.Hour), since(24*time.Hour)
	for _, slot := range slices.Backward(w) {
		if slot[0] < day {
			break
		}
		c.Day += int(slot[1])
		if slot[0] >= hour {
			c.Hour += int(slot[1])
		}
		if slot[0] >= minute {
			c.Minute += int(slot[1])
		}
	}
	return c
}
