package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Statuser tells how the sidecar is.
type Statuser interface {
	Status(ctx context.Context) Status
}

// Sandboxer lists and removes live sandboxes. Remove tells whether there was one
// of that id, Reap how many it removed.
type Sandboxer interface {
	List(ctx context.Context) []Sandbox
	Remove(ctx context.Context, id string) (found bool, err error)
	Reap(ctx context.Context) (removed int, err error)
}

// OperatorConfig is what the operators' door serves; every field is required.
type OperatorConfig struct {
	Statuser  Statuser
	Sandboxes Sandboxer
}

// NewOperator returns the operator API, or names everything that the config lacks.
func NewOperator(c OperatorConfig) (http.Handler, error) {
	if missing := c.missing(); len(missing) > 0 {
		return nil, fmt.Errorf("operator config lacks %s", strings.Join(missing, ", "))
	}
	o := &operator{c}
	rs := newRoutes()
	rs.on(http.MethodGet, "/v1/status", o.status)
	rs.on(http.MethodGet, "/v1/policies", o.policies)
	rs.on(http.MethodGet, "/v1/sandboxes", o.sandboxes)
	rs.on(http.MethodDelete, "/v1/sandboxes/{id}", o.remove)
	rs.on(http.MethodPost, "/v1/sandboxes/reap", o.reap)
	return rs, nil
}

func (c OperatorConfig) missing() (names []string) {
	if c.Statuser == nil {
		names = append(names, "Statuser")
	}
	if c.Sandboxes == nil {
		names = append(names, "Sandboxes")
	}
	return names
}

type operator struct{ OperatorConfig }

func (o *operator) status(w http.ResponseWriter, r *http.Request) {
	send(w, http.StatusOK, o.Statuser.Status(r.Context()))
}

func (o *operator) policies(w http.ResponseWriter, r *http.Request) {
	send(w, http.StatusOK, o.Statuser.Status(r.Context()).Policies)
}

func (o *operator) sandboxes(w http.ResponseWriter, r *http.Request) {
	send(w, http.StatusOK, Sandboxes{o.Sandboxes.List(r.Context())})
}

func (o *operator) remove(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	found, err := o.Sandboxes.Remove(r.Context(), id)
	switch {
	case err != nil:
		problem(http.StatusInternalServerError, "internal", fmt.Sprintf("Removing sandbox %s failed: %v.", cut(id), err)).write(w)
	case !found:
		problem(http.StatusNotFound, "sandbox_unknown", "There is no sandbox "+cut(id)+"; GET /v1/sandboxes lists those that live.").write(w)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (o *operator) reap(w http.ResponseWriter, r *http.Request) {
	removed, err := o.Sandboxes.Reap(r.Context())
	if err != nil {
		problem(http.StatusInternalServerError, "internal", fmt.Sprintf("Reaping sandboxes failed after %d: %v.", removed, err)).write(w)
		return
	}
	send(w, http.StatusOK, Reaped{removed})
}
