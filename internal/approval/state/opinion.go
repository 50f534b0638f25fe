package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// mostOpinions is how many an approval has at most.
const mostOpinions = 3

// Opine adds an opinion to a pending approval, in the place of one by the same program. It is no vote, and settles nothing.
func (s *State) Opine(id string, o api.Opinion, now time.Time) (t Step, err error) {
	i, err := s.answerable(id, now)
	if err != nil {
		return Step{}, err
	}
	i = i.copy()
	e := &i.Entry
	e.Opinions = slices.DeleteFunc(slices.Clone(e.Opinions), func(known api.Opinion) bool { return known.By == o.By })
	if len(e.Opinions) >= mostOpinions {
		return Step{}, Refuse(api.ErrVoted, "approval %s has %d opinions already", id, mostOpinions)
	}
	o.At = now
	e.Opinions = append(e.Opinions, o)
	said := e.event(fmt.Sprintf("opinion: %s says, and it is no answer: %s", o.By, o.Text))
	return Step{Items: []*Item{i}, Events: []api.Event{said}}, nil
}
