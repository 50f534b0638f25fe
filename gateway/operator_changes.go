package gateway

import (
	"context"
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Undoer knows what commands changed, and can put it back.
type Undoer interface {
	// Commands are those of a session, all if it is empty.
	Commands(session string) []api.Command
	// Changes are those of a command by its decision's or its request's id.
	Changes(ctx context.Context, id string, patch bool) (api.Changes, error)
	// Undo puts back what a command changed, on the word of a person.
	Undo(ctx context.Context, who bailiff.Approver, id string, how api.Undoing) (api.Undone, error)
}

// codeNoSnapshot is that of a command of which nothing was kept.
const codeNoSnapshot = "no_snapshot"

// mostPaths bounds what an undoing names.
const mostPaths = 1000

func (o *operator) commands(r *http.Request) (any, *api.Problem) {
	return api.Commands{Commands: o.config.Undo.Commands(r.URL.Query().Get("session"))}, nil
}

func (o *operator) changes(r *http.Request) (any, *api.Problem) {
	changes, err := o.config.Undo.Changes(r.Context(), r.PathValue("id"), r.URL.Query().Get("patch") == "true")
	return result(changes, codeNoSnapshot, err)
}

func (o *operator) undo(r *http.Request, who bailiff.Approver, how api.Undoing) (any, *api.Problem) {
	if len(how.Paths) > mostPaths {
		return nil, refusalProblem(codeRequest, []api.Fault{{At: "/paths", Message: "are more than 1,000: name folders"}})
	}
	undone, err := o.config.Undo.Undo(r.Context(), who, r.PathValue("id"), how)
	return result(undone, codeNoSnapshot, err)
}
