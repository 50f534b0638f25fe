package gateway

import (
	"fmt"
	"net/http"

	"github.com/bailiff-dev/bailiff/api"
)

// Sessions knows what sessions did: those that were used last, and all of one id.
type Sessions interface {
	List(most int) ([]api.Session, error)
	Show(id string) ([]api.SessionPast, error)
}

func (o *operator) sessions(r *http.Request) (any, *api.Problem) {
	limit := pageLength
	if p := readQuery(r, fields{"limit": number(&limit, 1, pageAtMost)}); p != nil {
		return nil, p
	}
	list, err := o.config.Sessions.List(limit)
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "internal", fmt.Sprintf("The histories of sessions cannot be read: %v.", err))
	}
	return api.Sessions{Sessions: list}, nil
}

func (o *operator) session(r *http.Request) (any, *api.Problem) {
	id := r.PathValue("id")
	all, err := o.config.Sessions.Show(id)
	switch {
	case err != nil:
		return nil, problem(http.StatusInternalServerError, "internal", fmt.Sprintf("The histories of sessions cannot be read: %v.", err))
	case len(all) == 0:
		return nil, problem(http.StatusNotFound, "session_unknown", "Of a session "+cut(id)+" nothing is remembered; "+
			"GET /v1/session-histories lists those that were used last.")
	}
	return api.SessionShown{Histories: all, Decisions: readLines(o.config.Decisions.Recent(id, pageLength))}, nil
}
