package app

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/fleet"
)

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
