package state

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// List is a page of entries in the order of their creation, shortened, and where the next page begins; empty if there is none.
func (s *State) List(q api.Query) (entries []api.Entry, next string) {
	if q.Limit <= 0 {
		q.Limit = 100
	}
	after, _ := strconv.ParseUint(q.After, 10, 64)
	at, _ := s.find(after + 1)
	for _, i := range s.order[at:] {
		if !selects(q, &i.Entry) {
			continue
		}
		if len(entries) == q.Limit {
			return entries, next
		}
		entries, next = append(entries, i.Entry.shown()), strconv.FormatUint(i.Seq, 10)
	}
	return entries, ""
}

func selects(q api.Query, e *Entry) bool {
	s := &e.Request.Session
	return (q.State == "" || q.State == e.State) && (q.Session == "" || q.Session == s.ID) &&
		(q.User == "" || isUser(q.User, s.Platform, s.UserID))
}

// AnswersTo counts what people said to the rules and matches of an approval in others.
func (s *State) AnswersTo(asked *Item) []api.Answered {
	counts := map[string]*api.Answered{}
	for _, i := range s.order {
		if i.Seq == asked.Seq || len(i.Pairs) == 0 || !slices.Equal(i.Pairs, asked.Pairs) {
			continue
		}
		for _, v := range i.Entry.Votes {
			one := counts[nameOf(v)]
			if one == nil {
				one = &api.Answered{Person: nameOf(v)}
				counts[nameOf(v)] = one
			}
			if v.Approve {
				one.Yes++
			} else {
				one.No++
			}
		}
	}
	var all []api.Answered
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, *counts[name])
	}
	return all
}

// LiveGrants are the grants that are in force, in the order of their creation.
func (s *State) LiveGrants(now time.Time) []api.Grant {
	grants := make([]api.Grant, 0, len(s.grants))
	for _, h := range s.grants {
		if h.live(now) {
			grants = append(grants, api.Grant(h.Grant))
		}
	}
	slices.SortFunc(grants, func(x, y api.Grant) int {
		return cmp.Or(x.Created.Compare(y.Created), strings.Compare(x.ID, y.ID))
	})
	return grants
}

// FreezesInOrder are what is frozen, in the order in which it was.
func (s *State) FreezesInOrder() []api.Freeze {
	freezes := make([]api.Freeze, 0, len(s.freezes))
	for _, f := range s.freezes {
		freezes = append(freezes, api.Freeze(f))
	}
	slices.SortFunc(freezes, func(x, y api.Freeze) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.Kind+x.ID, y.Kind+y.ID))
	})
	return freezes
}

// Since are the approvals that opened, and those that ended, since a state before.
func (s *State) Since(before *State) (opened, ended []*Item) {
	for _, i := range s.order {
		was := before.items[i.Entry.ID]
		if i.Pending() && was == nil {
			opened = append(opened, i)
		}
		if !i.Pending() && was != nil && was.Pending() {
			ended = append(ended, i)
		}
	}
	return opened, ended
}

// Show makes a step part of a state, but for what is older than that, and says what is shown of it. Woken are the approvals
// that are not pending by it, and grants is how many grants there are; less than zero if they did not change.
func (s *State) Show(t Step) (shown Step, woken []string, grants int) {
	t = s.newer(t)
	s.Apply(t)
	for _, i := range t.Items {
		if !i.Pending() {
			woken = append(woken, i.Entry.ID)
		}
	}
	if len(t.Grants)+len(t.Ended) == 0 {
		return t, woken, -1
	}
	return t, woken, len(s.grants)
}

// Tell has the observer hear of a step.
func (t *Step) Tell(o Observer) {
	for _, tell := range t.told {
		tell(o)
	}
}

// LastOf are the last approvals of the user of one, up to a number.
func (s *State) LastOf(asked *Item, most int) (last []*Item) {
	mine := func(e *Entry) [4]string {
		s := e.Request.Session
		return [4]string{e.Caller, e.Peer, s.Platform, s.UserID}
	}
	for _, i := range slices.Backward(s.order) {
		if len(last) < most && mine(&i.Entry) == mine(&asked.Entry) {
			last = append(last, i)
		}
	}
	return last
}
