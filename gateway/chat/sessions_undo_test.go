package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

// undoings are what was asked to be put back, where one user may ask.
type undoings struct {
	may    string
	undone api.Undone
	err    error

	mu  sync.Mutex
	all []string
}

func (u *undoings) May(user string) error {
	if user != u.may {
		return fmt.Errorf("%w: not yours to do: slack:%s belongs to no person in people", api.ErrIneligible, user)
	}
	return nil
}

func (u *undoings) Undo(_ context.Context, user, id string, how api.Undoing) (api.Undone, error) {
	if err := u.May(user); err != nil {
		return api.Undone{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all = append(u.all, fmt.Sprintf("%s %s %q %v", user, id, how.Paths, how.Force))
	return u.undone, u.err
}

func TestUndoPutsBackWhatACommandChangedAndTellsOfConflicts(t *testing.T) {
	t.Parallel()
	u := &undoings{may: "U1"}
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Undoer = u })
	for _, test := range []struct {
		word   string
		undone api.Undone
		err    error
		want   string
	}{
		{"/undo", api.Undone{}, nil, "Say which command: `/undo ID`. Its answer names the id."},
		{"/undo d1", api.Undone{ID: "u1", Restored: []string{"src/a", "b"}}, nil,
			"*As before: *`src/a`, `b`.\n`/undo u1` takes this back."},
		{"/undo d1 src ./b", api.Undone{ID: "u2", Left: []string{"b\u202e"}}, nil,
			"*Left, since they changed after the command: *`b\\u202e`. `/undo d1 --force` puts these back, too."},
		{" /undo  d1 —force", api.Undone{ID: "u3", Restored: []string{"b"}, Failed: []string{"a: a folder stands there now"}}, nil,
			"*As before: *`b`.\n*Not put back: *`a: a folder stands there now`.\n`/undo u3` takes this back."},
		{"/undo d1", api.Undone{ID: "u4"}, nil, "All is as it was before that command."},
		{"/undo d2", api.Undone{}, fmt.Errorf("%w: no snapshot was taken for d2", api.ErrUnknown),
			"*Nothing was put back. *Unknown: no snapshot was taken for d2."},
		{"/undo d1", api.Undone{ID: "u5", Restored: []string{"a"}}, errors.New("the disk is full"),
			"*As before: *`a`.\n`/undo u5` takes this back.*\nIt broke off. *The disk is full."},
		{"/undo d1", api.Undone{ID: "u6", Restored: strings.Fields(strings.Repeat("f ", mostFiles+2))}, nil,
			"*As before: *" + strings.Repeat("`f`, ", mostFiles-1) + "`f` and 2 more.\n`/undo u6` takes this back."},
	} {
		u.mu.Lock()
		u.undone, u.err = test.undone, test.err
		u.mu.Unlock()
		if got := k.answer("dm", dm, test.word); got != test.want {
			t.Errorf("%s is answered\n%s\nwant\n%s", test.word, got, test.want)
		}
	}
	want := []string{"U1 d1 [] false", `U1 d1 ["src" "./b"] false`, "U1 d1 [] true", "U1 d1 [] false"}
	if !slices.Equal(u.all[:4], want) || len(k.sidecar.requests()) > 0 {
		t.Errorf("undone were %q, and %d commands ran", u.all, len(k.sidecar.requests()))
	}
}

// A person who may operate the sidecar may undo without giving commands; who gives commands may not undo for that.
func TestUndoIsForThePeopleWhoMayOperate(t *testing.T) {
	t.Parallel()
	u := &undoings{may: stranger.ID, undone: api.Undone{ID: "u1", Restored: []string{"a"}}}
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Undoer = u })
	const refused = "*Nothing was put back. *"
	if got := k.answer("dm", dm, "/undo d1"); !strings.HasPrefix(got, refused) || !strings.Contains(got, "belongs to no person in people") {
		t.Errorf("a user who is no person is answered %q", got)
	}
	k.says(stranger, "dm", Place{Chat: "D9"}, "/undo d1", false)
	k.shows(Place{Chat: "D9"}, "*As before: *`a`.\n`/undo u1` takes this back.")
	k.says(stranger, "dm", Place{Chat: "D8"}, "ls", false)
	k.settles()
	if len(u.all) != 1 || len(k.sidecar.requests()) > 0 {
		t.Errorf("undone were %q, and %d commands ran", u.all, len(k.sidecar.requests()))
	}
}

func TestAnUndoingIsDoneOnceHoweverOftenItsMessageComes(t *testing.T) {
	t.Parallel()
	u := &undoings{may: "U1", undone: api.Undone{ID: "u1", Restored: []string{"a"}}}
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Undoer = u })
	said := k.direct("/undo d1")
	k.Said(t.Context(), said)
	k.settles()
	if len(u.all) != 1 {
		t.Errorf("undone were %q", u.all)
	}
}

func TestWithoutSnapshotsUndoPutsNothingBack(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	if got := k.answer("dm", dm, "/undo d1"); got != "Nothing is put back here." {
		t.Errorf("it says %q", got)
	}
}
