package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Statuser tells how the sidecar is.
type Statuser interface {
	Status(ctx context.Context) api.Status
}

// Sandboxer lists and removes live sandboxes. Remove tells whether there was one
// of that id, Reap how many it removed.
type Sandboxer interface {
	List(ctx context.Context) []api.Sandbox
	Remove(ctx context.Context, id string) (found bool, err error)
	Reap(ctx context.Context) (removed int, err error)
}

// Adopter puts the changed version of a protected file in its place, which a command had left and which was put back. An error
// wraps [api.ErrUnknown] where there is none.
type Adopter interface {
	Adopt(path string, who bailiff.Approver) (api.Adopted, error)
}

// Book keeps approvals and takes answers. Its errors are those of package
// api.
type Book interface {
	List(q api.Query) (entries []api.Entry, next string)
	Get(id string) (api.Entry, bool)
	Answer(ctx context.Context, id string, who bailiff.Approver, v bailiff.Verdict) (api.Entry, error)
	// Preview says what a grant of a pattern would have let run.
	Preview(id, match string) (api.Preview, error)
	// Watch returns the changes from now on, those of grants and freezes too, until
	// stop is called.
	Watch() (changes <-chan api.Change, stop func())
}

// Revoker lists what was granted, and takes it back. Its errors are those of
// package api.
type Revoker interface {
	Grants() []api.Grant
	Revoke(ctx context.Context, id string, who bailiff.Approver) (api.Grant, error)
}

// Freezer stops sessions and users, and lets them go on.
type Freezer interface {
	// Freeze returns when nothing that it stops runs any more.
	Freeze(ctx context.Context, f api.Freeze) (api.Freeze, error)
	Thaw(ctx context.Context, kind, id string, who bailiff.Approver) (found bool, err error)
	Freezes() []api.Freeze
}

// DecisionLog is the end of the decision log, as its lines of JSON.
type DecisionLog interface {
	// Recent returns the latest lines, of a session unless that is empty, the
	// newest first.
	Recent(session string, limit int) [][]byte
	// Watch returns the lines from now on, until stop is called. A nil line stands
	// for those that were dropped because they were read too slowly.
	Watch() (lines <-chan []byte, stop func())
}

// Truster knows to which MCP servers people said yes. Its errors are those of package api, and
// any other is a conflict.
type Truster interface {
	List() []api.MCPServer
	Show(server string) (api.MCPServer, error)
	// Trust notes the yes to what was shown, by its digest.
	Trust(server, digest string, who bailiff.Approver) (api.MCPServer, error)
	Forget(server string, who bailiff.Approver) error
}

// OperatorConfig is what an operators' listener serves; every field but
// BreakGlass, Undo, MCP and Link is required.
type OperatorConfig struct {
	Statuser  Statuser
	Sandboxes Sandboxer
	Approvals Book
	Grants    Revoker
	Freezer   Freezer
	Projects  Adopter
	Sessions  Sessions
	Decisions DecisionLog
	Reports   Reporter
	History   PolicyHistory
	// Who says who sends a request; false if this listener does not know them. It is
	// all that differs between the listeners of operators, see [ByPeer].
	Who func(*http.Request) (bailiff.Approver, bool)
	// Permit is nil if who may do something of [bailiff.MayAnswer] and its like; its error is one of
	// package api.
	Permit func(who bailiff.Approver, to string) error
	// BreakGlass is nil where no operator may do it.
	BreakGlass BreakGlasser
	// Undo is nil where nothing can be undone, or not by those who come here.
	Undo Undoer
	// MCP is nil where no MCP servers of others are served.
	MCP Truster
	// Link makes a link by which a person who is known here comes to the console;
	// nil where none are given.
	Link func(who bailiff.Approver) (url string, expires time.Time)

	// keepAlive is how often a stream without events says that it lives.
	keepAlive time.Duration
}

// ByPeer is the Who of an operators' socket: as whom the user at its other end
// is known.
func ByPeer(identify func(uid uint32, channel string) bailiff.Approver) func(*http.Request) (bailiff.Approver, bool) {
	return func(r *http.Request) (bailiff.Approver, bool) {
		peer := peerOf(r.Context())
		if peer.err != nil {
			return bailiff.Approver{}, false
		}
		return identify(peer.uid, bailiff.ChannelOperator), true
	}
}

// NewOperator returns the operator API, or names everything that the config lacks.
func NewOperator(c OperatorConfig) (http.Handler, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	if c.keepAlive == 0 {
		c.keepAlive = keepAlive
	}
	o := &operator{c}
	rs := newRoutes()
	rs.answer(http.MethodGet, "/v1/status", o.status)
	rs.answer(http.MethodGet, "/v1/policies", o.policies)
	rs.answer(http.MethodGet, "/v1/policies/history", o.revisions)
	rs.answer(http.MethodGet, "/v1/policies/history/{revision}", o.revision)
	rs.each("/v1/policies/rollback", map[string]http.HandlerFunc{
		http.MethodPost:   o.withPermission(bailiff.MayGovern, wishing(o, o.rollBack)).ServeHTTP,
		http.MethodDelete: o.withPermission(bailiff.MayGovern, o.known(o.resume)).ServeHTTP})
	rs.answer(http.MethodGet, "/v1/sandboxes", o.sandboxes)
	rs.answer(http.MethodDelete, "/v1/sandboxes/{id}", o.withPermission(bailiff.MayOperate, o.remove))
	rs.answer(http.MethodPost, "/v1/sandboxes/reap", o.withPermission(bailiff.MayOperate, o.reap))
	rs.answer(http.MethodGet, "/v1/session-histories", o.sessions)
	rs.answer(http.MethodGet, "/v1/session-histories/{id}", o.session)
	rs.answer(http.MethodGet, "/v1/approvals", o.approvals)
	rs.answer(http.MethodGet, "/v1/approvals/{id}", o.approval)
	rs.answer(http.MethodGet, "/v1/approvals/{id}/preview", o.preview)
	rs.answer(http.MethodPost, "/v1/approvals/{id}/approve", wishing(o, o.approve))
	rs.answer(http.MethodPost, "/v1/approvals/{id}/deny", wishing(o, o.deny))
	rs.answer(http.MethodGet, "/v1/grants", o.grants)
	rs.answer(http.MethodDelete, "/v1/grants/{id}", o.withPermission(bailiff.MayRevoke, o.known(o.revoke)))
	rs.each("/v1/freeze", map[string]http.HandlerFunc{http.MethodGet: answer(o.freezes).ServeHTTP,
		http.MethodPost:   o.withPermission(bailiff.MayOperate, wishing(o, o.freeze)).ServeHTTP,
		http.MethodDelete: o.withPermission(bailiff.MayOperate, wishing(o, o.thaw)).ServeHTTP})
	rs.answer(http.MethodPost, "/v1/project/adopt", o.withPermission(bailiff.MayOperate, wishing(o, o.adopt)))
	rs.answer(http.MethodGet, "/v1/decisions", o.decisions)
	rs.answer(http.MethodGet, "/v1/report", o.report)
	rs.on(http.MethodGet, "/v1/events", o.events)
	rs.elsewhere("This is the operators' listener; agents ask at a listener of agent.listeners.",
		"/v1/execute", "/v1/decide", "/v1/sessions/", "/v1/tool_calls/", "/v1/data/", "/v0/data/", "/mcp")
	if c.BreakGlass != nil {
		rs.answer(http.MethodPost, "/v1/break-glass", o.withPermission(bailiff.MayGovern, wishing(o, o.breakGlass)))
	}
	if c.Undo != nil {
		rs.answer(http.MethodGet, "/v1/changes", o.withPermission(bailiff.MayOperate, o.commands))
		rs.answer(http.MethodGet, "/v1/changes/{id}", o.withPermission(bailiff.MayOperate, o.changes))
		rs.answer(http.MethodPost, "/v1/changes/{id}/undo", o.withPermission(bailiff.MayOperate, wishing(o, o.undo)))
	}
	if c.MCP != nil {
		rs.answer(http.MethodGet, "/v1/mcp", o.mcpServers)
		rs.each("/v1/mcp/{name}", map[string]http.HandlerFunc{http.MethodGet: answer(o.mcpServer).ServeHTTP,
			http.MethodDelete: o.withPermission(bailiff.MayGovern, o.known(o.forgetMCP)).ServeHTTP})
		rs.answer(http.MethodPost, "/v1/mcp/{name}/trust", o.withPermission(bailiff.MayGovern, wishing(o, o.trustMCP)))
	}
	if c.Link != nil {
		rs.answer(http.MethodPost, "/v1/console/links", o.known(o.link))
	}
	return rs, nil
}

func (c OperatorConfig) missing() error {
	return required.Fields("operator", map[string]bool{
		"Statuser": c.Statuser == nil, "Sandboxes": c.Sandboxes == nil, "Approvals": c.Approvals == nil, "Grants": c.Grants == nil,
		"Freezer": c.Freezer == nil, "Decisions": c.Decisions == nil, "History": c.History == nil, "Who": c.Who == nil,
		"Permit": c.Permit == nil, "Projects": c.Projects == nil, "Sessions": c.Sessions == nil,
		"Reports": c.Reports == nil,
	})
}

type operator struct{ config OperatorConfig }

// known answers requests of an approver whom this listener knows.
func (o *operator) known(do func(r *http.Request, who bailiff.Approver) (any, *api.Problem)) answer {
	return func(r *http.Request) (any, *api.Problem) {
		who, p := o.identify(r)
		if p != nil {
			return nil, p
		}
		return do(r, who)
	}
}

// withPermission answers requests of those whom their role lets do it, and of those whom this listener does not
// know: whether these may is for what answers to say.
func (o *operator) withPermission(to string, do answer) answer {
	return func(r *http.Request) (any, *api.Problem) {
		if who, known := o.config.Who(r); known {
			if err := o.config.Permit(who, to); err != nil {
				return nil, refusal("", err)
			}
		}
		return do(r)
	}
}

// wishing answers requests of an approver whom this listener knows, with what their bodies say.
func wishing[T any](o *operator, do func(r *http.Request, who bailiff.Approver, wish T) (any, *api.Problem)) answer {
	return o.known(func(r *http.Request, who bailiff.Approver) (any, *api.Problem) {
		var wish T
		if p := readBody(r, &wish); p != nil {
			return nil, p
		}
		return do(r, who, wish)
	})
}

// result answers with a value, or says why the wish was not met: unknown is the code where
// there is nothing of that id.
func result(value any, unknown string, err error) (any, *api.Problem) {
	if err != nil {
		return nil, refusal(unknown, err)
	}
	return value, nil
}

func (o *operator) status(r *http.Request) (any, *api.Problem) {
	return o.config.Statuser.Status(r.Context()), nil
}

func (o *operator) policies(r *http.Request) (any, *api.Problem) {
	return o.config.Statuser.Status(r.Context()).Policies, nil
}

func (o *operator) sandboxes(r *http.Request) (any, *api.Problem) {
	return api.Sandboxes{Sandboxes: o.config.Sandboxes.List(r.Context())}, nil
}

func (o *operator) remove(r *http.Request) (any, *api.Problem) {
	id := r.PathValue("id")
	found, err := o.config.Sandboxes.Remove(r.Context(), id)
	switch {
	case err != nil:
		return nil, problem(http.StatusInternalServerError, "internal", fmt.Sprintf("Removing sandbox %s failed: %v.", cut(id), err))
	case !found:
		return nil, problem(http.StatusNotFound, "sandbox_unknown", "There is no sandbox "+cut(id)+
			"; GET /v1/sandboxes lists those that live.")
	}
	return nil, nil
}

func (o *operator) reap(r *http.Request) (any, *api.Problem) {
	removed, err := o.config.Sandboxes.Reap(r.Context())
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "internal", fmt.Sprintf("Reaping sandboxes failed after %d: %v.", removed, err))
	}
	return api.Reaped{Removed: removed}, nil
}

func (o *operator) link(_ *http.Request, who bailiff.Approver) (any, *api.Problem) {
	url, expires := o.config.Link(who)
	return api.ConsoleLink{URL: url, ExpiresAt: expires}, nil
}
