package console

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// project has one command that can be undone, whose file b changed since.
type project struct {
	mu     sync.Mutex
	asked  []string
	change api.Changes
}

func (*project) Commands(string) []api.Command { return nil }

func (p *project) Changes(_ context.Context, id string, patch bool) (api.Changes, error) {
	if id != p.change.Command.ID || !patch {
		return api.Changes{}, fmt.Errorf("%w: no snapshot was taken for %s", api.ErrUnknown, id)
	}
	return p.change, nil
}

func (p *project) Undo(_ context.Context, who bailiff.Approver, id string, how api.Undoing) (api.Undone, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, fmt.Sprintf("%s on %s: %s %v", who.Name(), who.Channel, id, how.Force))
	if how.Force {
		return api.Undone{ID: "u2", Restored: []string{"b"}, Left: []string{}, Failed: []string{}}, nil
	}
	return api.Undone{ID: "u1", Restored: []string{"src/a"}, Left: []string{"b"}, Failed: []string{"c: a folder stands there now"}}, nil
}

// deleted is a sidecar of which a command deleted a folder of a project.
func deleted(t *testing.T) (*office, *project) {
	o := serve(t)
	p := &project{change: api.Changes{Command: api.Command{ID: "d1", Text: "rm -rf src", Time: time.Now()},
		Folders: []api.FolderChanges{{Folder: "/home/ana/p", Known: true,
			Changes: []api.FileChange{{Path: "src/a", Kind: "deleted", Removed: 3},
				{Path: hostile[1], Kind: "changed", Added: 1, Removed: 1, Whose: "this command or session s2"}},
			Unkept: []api.Unkept{{Path: ".git", Why: "git keeps it itself"}},
			Earlier: &api.EarlierChanges{Since: time.Now(), Whose: "a person",
				Changes: []api.FileChange{{Path: "notes", Kind: "added", Added: 1}}}}},
		Patch: "--- a/src/a\n+++ /dev/null\n-" + hostile[0] + "\n" + strings.Repeat("-x\n", 500)}}
	o.undo = p
	c := claim("rm -rf src")
	backendtest.Must(t, o.log.Record(t.Context(), api.Event{DecisionID: "d1", Timestamp: time.Now().UTC(), Input: c.Input,
		Result: c.Decision,
		Custom: api.Custom{Event: api.DecisionEvent, Session: "s1", Snapshot: map[string]string{"/home/ana/p": "0123"}}}))
	return o, p
}

const lookAtD1 = `[data-act="look-d1"]`

func TestWhatACommandChangedStandsBesideItAndIsUndone(t *testing.T) {
	o, p := deleted(t)
	b := o.login(t, "ana")
	b.click("#tab-activity")
	b.await(`document.querySelector('` + lookAtD1 + `')`)
	b.click(lookAtD1)
	for _, want := range []string{"src/a deleted +0 −3", hostile[1] + " changed +1 −1, by this command or session s2",
		"1 file or folder not kept: .git", "1 file, by a person", "+++ /dev/null -" + hostile[0], "The difference is longer than that"} {
		b.awaitText("#activity .changes", want)
	}
	if n := is[int](b, `document.querySelectorAll('#activity .changes pre span').length`); n != 400 {
		t.Errorf("the difference has %d lines", n)
	}
	o.log.Note(api.Event{DecisionID: "d2", Timestamp: time.Now().UTC(), Custom: api.Custom{Event: api.ExecutionEvent, Message: "Another."}})
	b.awaitText("#activity", "Another.")
	b.awaitText("#activity .changes", "src/a deleted") // it stays unfolded
	b.click(`[data-act="undo-d1"]`)
	b.awaitText("#confirm-body", "rm -rf src")
	b.click("#confirm-yes")
	b.awaitToast("As before: 1 file; not put back: c: a folder stands there now")
	b.awaitText("#confirm-title", "Put back 1 file that changed since, too?")
	b.click("#confirm-yes")
	b.awaitToast("As before")
	p.mu.Lock()
	defer p.mu.Unlock()
	if got, want := strings.Join(p.asked, "; "), "ana on console: d1 false; ana on console: d1 true"; got != want {
		t.Errorf("undone was %q, want %q", got, want)
	}
	if v := b.violations(); len(v) > 0 {
		t.Errorf("the page's policy stopped %q", v)
	}
}

func TestWithoutTheRoleNothingCanBeUndone(t *testing.T) {
	o, p := deleted(t)
	o.permit = func(_ bailiff.Approver, to string) error {
		if to == bailiff.MayOperate {
			return fmt.Errorf("%w: this is for operators", api.ErrIneligible)
		}
		return nil
	}
	b := o.login(t, "eve")
	b.click("#tab-activity")
	b.awaitText("#activity", "rm -rf src")
	if is[bool](b, `Boolean(document.querySelector('`+lookAtD1+`'))`) || len(p.asked) > 0 {
		t.Errorf("she is offered what it changed: %s", b.text("#activity"))
	}
}
