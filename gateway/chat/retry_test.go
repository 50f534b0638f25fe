package chat

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesGrowAndAreAsLongAsTheServiceWants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const first = 500 * time.Millisecond
		pauses := NewBackoff(first)
		took := func(why error) time.Duration {
			begun := time.Now()
			if !pauses.Wait(t.Context(), why) {
				t.Error("it does not go on")
			}
			return time.Since(begun)
		}
		want := first
		for range 12 {
			if d := took(nil); d < want/2 || d > want {
				t.Errorf("after %v it went on, want %v to %v", d, want/2, want)
			}
			want = min(2*want, longestPause)
		}
		if d := took(&Busy{After: time.Hour}); d != time.Hour {
			t.Errorf("after %v it went on", d)
		}
		if d := took(nil); d > longestPause {
			t.Errorf("after %v it went on", d)
		}
	})
}
