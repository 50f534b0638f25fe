package app

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/fleet"
)

// What runs of sessions that others have taken over is ended at the start, when it may be of an earlier run, and
// after each silence.
func TestWhatOthersTookOverIsLookedForAtTheStartAndAfterEachSilence(t *testing.T) {
	t.Parallel()
	var fault error
	yields := 0
	watch := takeovers{log: slog.New(slog.DiscardHandler), yield: func(context.Context) error { yields++; return fault }}
	for i, step := range []struct {
		silences uint64
		fault    error
		want     int
	}{{0, fleet.ErrStore, 1}, {0, nil, 2}, {0, nil, 2}, {1, fleet.ErrStore, 3}, {1, nil, 4}, {1, nil, 4}} {
		fault = step.fault
		if watch.look(t.Context(), step.silences); yields != step.want {
			t.Errorf("look %d: it yielded %d times, want %d", i, yields, step.want)
		}
	}
}

func TestInAnOutageEachLookStopsWhatRuns(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	stopped := 0
	watch := outages{log: slog.New(slog.NewTextHandler(&said, nil)), stop: func(context.Context) error { stopped++; return nil }}
	for _, err := range []error{nil, fleet.ErrStore, fleet.ErrStore, nil, fleet.ErrStore} {
		watch.look(t.Context(), err)
	}
	if begun := strings.Count(said.String(), "what runs is stopped"); stopped != 3 || begun != 2 {
		t.Errorf("it stopped what runs %d times and told of %d outages, want 3 and 2", stopped, begun)
	}
}
