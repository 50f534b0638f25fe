package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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

	place := filepath.Join(dir, ".envrc")
	isKept := func() bool {
		status, err := s.operator.Status(ctx)
		return err == nil && slices.ContainsFunc(status.Warnings, func(text string) bool {
			return strings.Contains(text, `"bailiff project adopt `+place+`"`)
		})
	}
	if !isKept() {
		t.Error("the status does not say that a change is kept aside")
	}
	adopted, err := s.operator.Adopt(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(adopted.Former); err != nil || isKept() {
		t.Errorf("after it was taken and the former one was removed: %v, and the status says that it is kept: %t", err, isKept())
	}
	wants(t, ask(t, s.agent, inProject(dir, "cat .envrc")), bailiff.Completed, "")
	if text, err := os.ReadFile(place); err != nil || string(text) != "x" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
