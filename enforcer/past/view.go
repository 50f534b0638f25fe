package past

import (
	"github.com/bailiff-dev/bailiff/api"
)

// View shows operators what sessions did.
type View struct{ Store *Store }

// List are those that were used last.
func (v View) List(most int) ([]api.Session, error) {
	known, err := v.Store.List(most)
	list := make([]api.Session, 0, len(known))
	for _, k := range known {
		list = append(list, rememberedSession(k))
	}
	return list, err
}

// Show are all of one id.
func (v View) Show(id string) ([]api.SessionPast, error) {
	shown, err := v.Store.Show(id)
	list := make([]api.SessionPast, 0, len(shown))
	for _, one := range shown {
		list = append(list, api.SessionPast{Session: rememberedSession(one.Known), History: one.History})
	}
	return list, err
}

func rememberedSession(k Known) api.Session {
	return api.Session{ID: k.Session, Caller: k.Caller, LastUsed: k.Used}
}
