package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
)

// run is a command that has begun, as the enforcer has it begin.
type run struct {
	w *work
	snapshot.Entry
	end func()
}

// begin begins a command of a session, before which a snapshot is taken.
func (w *work) begin(session, id string) *run {
	w.Helper()
	e, err := w.Before(w.Context(), snapshot.Entry{ID: id, Session: session}, w.mounts(), snapshot.Reach{All: true})
	must(w, err)
	return &run{w, e, w.Begin(e, []string{w.dir}, none)}
}

// finish ends it, and waits for the snapshot after it.
func (r *run) finish() {
	r.w.Helper()
	r.end()
	r.w.After(r.Entry)
	must(r.w, r.w.Settle(r.w.Context(), []string{r.w.dir}))
}

func none() bool { return false }

// whose says of each file that a command changed, and of each before it, by whom that can be.
func (w *work) whose(id string) string {
	w.Helper()
	e, err := w.Find(w.Context(), id)
	must(w, err)
	all, err := w.Changes(w.Context(), e)
	must(w, err)
	var said []string
	for _, c := range all[0] {
		said = append(said, c.Path+" "+c.Whose)
	}
	was, err := w.Earlier(w.Context(), e, e.Folders[0])
	must(w, err)
	for _, c := range was.Changes {
		said = append(said, fmt.Sprintf("before %s %s", c.Path, was.Whose))
	}
	return strings.Join(said, "\n")
}

func (w *work) wantsWhose(id, want string) {
	w.Helper()
	if is := w.whose(id); is != want {
		w.Errorf("of %s is said\n%s\nwant\n%s", id, is, want)
	}
}

const aPersons = "a person, or a program outside of sandboxes: nothing ran in one"

func TestChangesOfACommandAndOfAPersonBeforeIt(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a")
	w.ready()
	one := w.begin("s1", "c1")
	w.sh("echo 2 > a")
	one.finish()
	w.sh("echo mine > b")
	two := w.begin("s1", "c2")
	w.sh("rm a")
	two.finish()
	w.wantsWhose("c1", "a ")
	w.wantsWhose("c2", "a \nbefore b "+aPersons)
	undone := w.undo("c2", false)
	w.wantsWhose(undone.Entry.ID, "a ")
}

// A command without a snapshot of its own, of another session, of the same, or a process that goes on.
func TestChangesBeforeACommandAreOfTheSessionsThatRan(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a")
	w.ready()
	end := w.Begin(snapshot.Entry{ID: "x", Session: "s2"}, []string{w.dir}, none)
	w.sh("echo 2 > a")
	end()
	w.begin("s1", "c1").finish()
	w.wantsWhose("c1", "before a session s2")

	goesOn := true
	w.Begin(snapshot.Entry{ID: "server", Session: "s3"}, []string{w.dir}, func() bool { return goesOn })()
	two := w.begin("s1", "c2")
	w.sh("echo 3 > a")
	two.finish()
	w.wantsWhose("c2", "a this command or session s3")
	goesOn = false
	w.begin("s1", "c3").finish() // from here on nothing but it runs
	w.sh("echo 4 > a")
	w.begin("s1", "c4").finish()
	w.wantsWhose("c4", "before a "+aPersons)
}

func TestOfTwoSessionsAtOnceEachFileIsOfThoseThatRanWhenItChanged(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a; echo 1 > b; echo 1 > c; echo 1 > d")
	w.ready()
	one := w.begin("s1", "c1")
	w.sh("echo 2 > a")
	two := w.begin("s2", "c2")
	w.sh("echo 2 > b")
	one.finish()
	w.sh("echo 2 > c")
	two.finish()
	w.wantsWhose("c1", "a \nb this command or session s2")
	w.wantsWhose("c2", "b this command or session s1\nc \nbefore a session s1")

	three := w.begin("s1", "c3")
	sub := w.Begin(snapshot.Entry{ID: "sub", Session: "s1"}, []string{w.dir}, none) // of a sub-agent, say
	w.sh("echo 2 > d")
	sub()
	three.finish()
	w.wantsWhose("c3", "d this command or another command of its session")
}

func TestAfterARestartItIsNotKnownWhoseAChangeIs(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a")
	w.ready()
	w.reopen()
	w.sh("echo 2 > a")
	w.begin("s1", "c1").finish()
	w.wantsWhose("c1", "before a not known: the sidecar did not run all the time")
}

func TestALongDifferenceIsCutAtALine(t *testing.T) {
	w := open(t, nil)
	w.sh("yes 'a line of text' | head -c 5000000 > a")
	w.ready()
	e, err := w.Find(t.Context(), w.do("rm a"))
	must(t, err)
	patch, isCut, err := w.Patch(t.Context(), e)
	if err != nil || !isCut || len(patch) > 4<<20 || !strings.HasSuffix(patch, "\n-a line of text\n") {
		t.Errorf("it has %d bytes, cut %v, %v", len(patch), isCut, err)
	}
}
