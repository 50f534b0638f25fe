package app

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// What was put back in a project is read from the events by those who follow them: its owner may have made the change by hand.
func TestThoseWhoWatchAreToldWhatWasPutBack(t *testing.T) {
	t.Parallel()
	s, dir := startProject(t, "bubblewrap", isolated["bubblewrap"])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	following, told := make(chan bool, 1), make(chan string, 10)
	go func() {
		_ = s.operator.Events(ctx, func(name string, data []byte) error { // until the test ends
			var l api.Logged
			switch {
			case name == "":
				following <- true
			case name == string(api.ExecutionEvent) && json.Unmarshal(data, &l) == nil:
				told <- l.PutBack()
			}
			return nil
		})
	}()
	<-following
	wants(t, ask(t, s.agent, inProject(dir, "ls")), bailiff.Completed, "")
	wants(t, ask(t, s.agent, inProject(dir, "python3 envrc.py")), bailiff.Completed, "")
	if changes := <-told; changes != "" {
		t.Errorf("of a command that changed nothing they are told %q", changes)
	}
	if changes := <-told; !strings.Contains(changes, ".envrc") {
		t.Errorf("they are told %q", changes)
	}
}
