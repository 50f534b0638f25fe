package state

import (
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// What was not loaded would look as if it were not there.
func TestAStepThatLooksAtWhatItDidNotLoadFails(t *testing.T) {
	t.Parallel()
	n := Need{Items: []string{"a-1"}, Grants: []string{"g-1"}}
	for name, c := range map[string]struct {
		look  func(*State)
		fails bool
	}{
		"an approval":                     {func(s *State) { s.Item("a-2") }, true},
		"an approval that was loaded":     {func(s *State) { s.Item("a-1") }, false},
		"the grant of an approval":        {func(s *State) { s.grantOf("a-2") }, true},
		"the grant of one that was":       {func(s *State) { s.grantOf("a-1") }, false},
		"what an approval left":           {func(s *State) { s.grantLeft(&Item{Entry: Entry{ID: "a-2"}}) }, true},
		"a grant":                         {func(s *State) { s.grant("g-2") }, true},
		"a grant that was loaded":         {func(s *State) { s.grant("g-1") }, false},
		"all grants":                      {func(s *State) { s.AllGrants() }, true},
		"what is pending":                 {func(s *State) { s.PendingInOrder() }, true},
		"what is pending of a digest":     {func(s *State) { s.pendingOf("d") }, true},
		"the grant of a digest":           {func(s *State) { s.onceOf("d") }, true},
		"the grants of an owner":          {func(s *State) { s.ownedBy(Owner{}) }, true},
		"how many a holder has":           {func(s *State) { s.countOf(Holder{}) }, true},
		"what covers a claim":             {func(s *State) { s.Cover(Want(bailiff.Claim{}), time.Now()) }, true},
		"freezes, which are always there": {func(s *State) { s.Frozen(bailiff.Session{}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				_, is := recover().(Outside)
				if is != c.fails {
					t.Errorf("it fails: %v, want %v", is, c.fails)
				}
			}()
			c.look(NewPart(&n))
		})
	}
}
