package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// startUndoable is a sidecar with a project of which the first snapshot is taken.
func startUndoable(t *testing.T, backend string) (s *office, dir string) {
	t.Helper()
	s, dir = startProject(t, backend, isolated[backend])
	wants(t, ask(t, s.agent, inProject(dir, "mkdir src && echo one > src/a && echo two > b && "+
		"echo '*.log' > .gitignore && echo s > x.log")), bailiff.Completed, "")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the sidecar's log: %s", s.log)
		}
	})
	awaittest.Until(t, "the first snapshot of the project", func() bool { return s.snapshots.Ready([]string{dir}) })
	return s, dir
}

func TestWhatACommandDeletedInAProjectIsBack(t *testing.T) {
	t.Parallel()
	for backend := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s, dir := startUndoable(t, backend)
			gone := ask(t, s.agent, inProject(dir, "rm -rf src x.log; echo three >> b"))
			if gone.Status != bailiff.Completed || !gone.Decision.Snapshot ||
				!strings.Contains(gone.Message, "bailiff undo "+gone.DecisionID) {
				t.Fatalf("deleting a folder: %+v", gone)
			}
			changes, err := s.operator.Changes(t.Context(), gone.DecisionID, true)
			if err != nil || len(changes.Folders) != 1 || len(changes.Folders[0].Changes) != 3 ||
				!strings.Contains(changes.Patch, "+three") {
				t.Fatalf("its changes: %+v, %v", changes, err)
			}
			if undone, err := s.agent.Undo(t.Context(), gone.DecisionID, api.Undoing{}); err == nil {
				t.Fatalf("the agent undid it itself: %+v", undone)
			}
			undone, err := s.operator.Undo(t.Context(), gone.DecisionID, api.Undoing{})
			if err != nil || len(undone.Restored) != 3 || len(undone.Left)+len(undone.Failed) > 0 {
				t.Fatalf("undoing it: %+v, %v", undone, err)
			}
			for name, text := range map[string]string{"src/a": "one\n", "b": "two\n", "x.log": "s\n"} {
				if is, err := os.ReadFile(filepath.Join(dir, name)); string(is) != text {
					t.Errorf("%s is %q, %v", name, is, err)
				}
			}
			if again := ask(t, s.agent, inProject(dir, "cat x.log && echo more > src/a")); again.Output != "s\n" || again.ExitCode != 0 {
				t.Errorf("the session goes on with %q, %d", again.Output, again.ExitCode)
			}
			awaittest.Until(t, "the snapshot and the undoing in the decision log", func() bool { return isLogged(s, dir, gone.DecisionID) })
		})
	}
}

// isLogged says whether the decision log has a decision's snapshot of a folder, and that it was undone.
func isLogged(s *office, dir, decision string) bool {
	undoings, snapshot := 0, ""
	for _, line := range s.decisions.Recent("", 100) {
		var e struct {
			DecisionID string     `json:"decision_id"`
			Custom     api.Custom `json:"custom"`
		}
		if json.Unmarshal(line, &e) != nil { // it is being written
			continue
		}
		if e.DecisionID == decision && e.Custom.Event == api.DecisionEvent {
			snapshot = e.Custom.Snapshot[dir]
		}
		if u := e.Custom.Undo; u != nil && u.Of == decision && u.By == "ana" {
			undoings++
		}
	}
	return undoings == 2 && len(snapshot) == 40
}

func TestWhatNoSnapshotCanPromiseIsAskedAbout(t *testing.T) {
	t.Parallel()
	s, dir := startUndoable(t, "bubblewrap")
	pending := func(req bailiff.Request, why string) {
		t.Helper()
		req.WaitSeconds = 0
		if a := ask(t, s.agent, req); a.Status != bailiff.ApprovalRequired {
			t.Errorf("%s: %s %s", why, a.Status, a.Message)
		}
	}
	pending(inProject(dir, "rm -rf .git"), "the repository itself")
	pending(inProject(dir, "git branch -D topic"), "what git keeps")
	background := inProject(dir, "rm -rf src")
	background.Args.Background = true
	pending(background, "what goes on")
	must(t, os.Mkdir(filepath.Join(dir, "many.log"), 0o755))
	for i := range 201 {
		save(t, filepath.Join(dir, "many.log", "f"+string(rune('a'+i%26))+strings.Repeat("x", i/26)), "x")
	}
	pending(inProject(dir, "rm -rf many.log"), "a folder that is not kept")
	wants(t, ask(t, s.agent, inProject(dir, "rm -rf src")), bailiff.Completed, "")
	process := inProject(dir, "cat")
	process.Args.Background = true
	wants(t, ask(t, s.agent, process), bailiff.Completed, "")
	pending(inProject(dir, "rm -rf b*"), "beside a process of the session")
}

// A client that runs what it asks about has no snapshot taken.
func TestWhoRunsACommandItselfIsPromisedNothing(t *testing.T) {
	t.Parallel()
	s, dir := startUndoable(t, "bubblewrap")
	text, err := json.Marshal(inProject(dir, "rm -rf src"))
	must(t, err)
	decided, err := s.agent.Decide(t.Context(), text)
	if err != nil || decided.Decision.Outcome != bailiff.Ask || decided.Decision.Snapshot {
		t.Errorf("deciding alone: %+v, %v", decided, err)
	}
}

func TestByChatPeopleUndoWhoMayOperate(t *testing.T) {
	t.Parallel()
	telegram, s := guildhall(t)
	telegram.Write("42", "42", "", "/undo d1")
	telegram.Await("42", shows("Nothing was put back.", "no snapshot was taken for d1"))
	telegram.Write("44", "44", "", "/undo d1")
	telegram.Await("44", shows("You may not give commands here."))
	by := chatUndoer{undoer{s.core}, "telegram"}
	if _, err := by.Undo(t.Context(), "44", "d1", api.Undoing{}); !errors.Is(err, api.ErrIneligible) ||
		!strings.Contains(err.Error(), "telegram:44 belongs to no person in people") {
		t.Errorf("an account of no person: %v", err)
	}
}
