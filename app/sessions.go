package app

import (
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer/past"
)

// sessions show operators what sessions did.
type sessions struct{ past *past.Store }

// List are those that were used last.
func (s sessions) List(most int) ([]api.Session, error) {
	known, err := s.past.List(most)
	list := make([]api.Session, 0, len(known))
	for _, k := range known {
		list = append(list, rememberedSession(k))
	}
	return list, err
}

// Show are all of one id.
func (s sessions) Show(id string) ([]api.SessionPast, error) {
	shown, err := s.past.Show(id)
	list := make([]api.SessionPast, 0, len(shown))
	for _, one := range shown {
		list = append(list, api.SessionPast{Session: rememberedSession(one.Known), History: one.History})
	}
	return list, err
}

func rememberedSession(k past.Known) api.Session {
	return api.Session{ID: k.Session, Caller: k.Caller, LastUsed: k.Used}
}
