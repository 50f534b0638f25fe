package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// Approvals is one page of what people were asked; the query's After is an
// earlier page's Next.
func (c *Client) Approvals(ctx context.Context, q api.Query) (api.Approvals, error) {
	values := url.Values{}
	for name, value := range map[string]string{"state": string(q.State), "session": q.Session, "user": q.User, "after": q.After} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return ask[api.Approvals](ctx, c, c.prompt, http.MethodGet, "/v1/approvals?"+values.Encode(), nil)
}

// Approval shows one whole.
func (c *Client) Approval(ctx context.Context, id string) (api.ShownApproval, error) {
	return ask[api.ShownApproval](ctx, c, c.prompt, http.MethodGet, approvalPath(id), nil)
}

// Approve says yes, with the narrowest scope if that is empty.
func (c *Client) Approve(ctx context.Context, id, scope string) (api.Entry, error) {
	return tell[api.Entry](ctx, c, c.prompt, http.MethodPost, approvalPath(id)+"/approve", api.Approving{Scope: scope})
}

// ApproveAs says yes to a pattern of the request's words, or for so long and so often.
func (c *Client) ApproveAs(ctx context.Context, id string, as api.Approving) (api.Entry, error) {
	return tell[api.Entry](ctx, c, c.prompt, http.MethodPost, approvalPath(id)+"/approve", as)
}

// Preview says of how many of the last requests a grant of a pattern would have let run.
func (c *Client) Preview(ctx context.Context, id, match string) (api.Preview, error) {
	return ask[api.Preview](ctx, c, c.prompt, http.MethodGet, approvalPath(id)+"/preview?match="+url.QueryEscape(match), nil)
}

// Deny says no.
func (c *Client) Deny(ctx context.Context, id, reason string) (api.Entry, error) {
	return tell[api.Entry](ctx, c, c.prompt, http.MethodPost, approvalPath(id)+"/deny", api.Denying{Reason: reason})
}

func approvalPath(id string) string { return "/v1/approvals/" + url.PathEscape(id) }

// Changed are the commands of a session whose changes were kept, all if it is empty.
func (c *Client) Changed(ctx context.Context, session string) ([]api.Command, error) {
	list, err := ask[api.Commands](ctx, c, c.prompt, http.MethodGet, "/v1/changes?session="+url.QueryEscape(session), nil)
	return list.Commands, err
}

// Changes are what a command changed, by its decision's or its request's id.
func (c *Client) Changes(ctx context.Context, id string, patch bool) (api.Changes, error) {
	return ask[api.Changes](ctx, c, c.stopping, http.MethodGet, "/v1/changes/"+url.PathEscape(id)+"?patch="+strconv.FormatBool(patch), nil)
}

// Undo puts back what a command changed.
func (c *Client) Undo(ctx context.Context, id string, how api.Undoing) (api.Undone, error) {
	return tell[api.Undone](ctx, c, c.stopping, http.MethodPost, "/v1/changes/"+url.PathEscape(id)+"/undo", how)
}

// Grants are what lets requests run without asking again.
func (c *Client) Grants(ctx context.Context) ([]api.Grant, error) {
	list, err := ask[api.Grants](ctx, c, c.prompt, http.MethodGet, "/v1/grants", nil)
	return list.Grants, err
}

// Revoke ends a grant.
func (c *Client) Revoke(ctx context.Context, id string) (api.Grant, error) {
	return ask[api.Grant](ctx, c, c.prompt, http.MethodDelete, "/v1/grants/"+url.PathEscape(id), nil)
}

// Freezes are what is frozen.
func (c *Client) Freezes(ctx context.Context) ([]api.Freeze, error) {
	list, err := ask[api.Freezes](ctx, c, c.prompt, http.MethodGet, "/v1/freeze", nil)
	return list.Freezes, err
}

// Freeze returns when nothing that it stops runs any more.
func (c *Client) Freeze(ctx context.Context, f api.Freezing) (api.Freeze, error) {
	return tell[api.Freeze](ctx, c, c.stopping, http.MethodPost, "/v1/freeze", f)
}

// Thaw lets go on what was frozen by the same kind and id.
func (c *Client) Thaw(ctx context.Context, kind, id string) error {
	body, err := json.Marshal(api.Freezing{Kind: kind, ID: id})
	if err != nil {
		return fmt.Errorf("asking the sidecar: %w", err)
	}
	return c.silently(ctx, c.prompt, http.MethodDelete, "/v1/freeze", body)
}

// Adopt takes the changed version of a protected file, which was put back.
func (c *Client) Adopt(ctx context.Context, path string) (api.Adopted, error) {
	return tell[api.Adopted](ctx, c, c.prompt, http.MethodPost, "/v1/project/adopt", api.Adopting{Path: path})
}

// MCPServers are the MCP servers that clients reached.
func (c *Client) MCPServers(ctx context.Context) ([]api.MCPServer, error) {
	list, err := ask[api.MCPServers](ctx, c, c.prompt, http.MethodGet, "/v1/mcp", nil)
	return list.Servers, err
}

// MCPServer is one of them.
func (c *Client) MCPServer(ctx context.Context, name string) (api.MCPServer, error) {
	return ask[api.MCPServer](ctx, c, c.prompt, http.MethodGet, "/v1/mcp/"+url.PathEscape(name), nil)
}

// TrustMCP says yes to what was shown of a server, by its digest.
func (c *Client) TrustMCP(ctx context.Context, name, digest string) (api.MCPServer, error) {
	return tell[api.MCPServer](ctx, c, c.prompt, http.MethodPost, "/v1/mcp/"+url.PathEscape(name)+"/trust", api.MCPTrusting{Digest: digest})
}

// ForgetMCP takes the yes to a server back, and forgets it.
func (c *Client) ForgetMCP(ctx context.Context, name string) error {
	return c.silently(ctx, c.prompt, http.MethodDelete, "/v1/mcp/"+url.PathEscape(name), nil)
}

// Revisions are the policies that were in force, the latest first.
func (c *Client) Revisions(ctx context.Context) ([]api.Revision, error) {
	list, err := ask[api.Revisions](ctx, c, c.prompt, http.MethodGet, "/v1/policies/history", nil)
	return list.Revisions, err
}

// Revision is one of them with its texts, by the beginning of its name.
func (c *Client) Revision(ctx context.Context, name string) (api.ShownRevision, error) {
	return ask[api.ShownRevision](ctx, c, c.prompt, http.MethodGet, "/v1/policies/history/"+url.PathEscape(name), nil)
}

// RollBack returns when those policies are in force.
func (c *Client) RollBack(ctx context.Context, revision, reason string) (api.PolicyStatus, error) {
	return tell[api.PolicyStatus](ctx, c, c.stopping, http.MethodPost, "/v1/policies/rollback",
		api.RollingBack{Revision: revision, Reason: reason})
}

// Resume returns when the configuration's policies are in force again.
func (c *Client) Resume(ctx context.Context) (api.PolicyStatus, error) {
	return ask[api.PolicyStatus](ctx, c, c.stopping, http.MethodDelete, "/v1/policies/rollback", nil)
}

// ConsoleLink returns a link by which one's browser comes to the console, once.
func (c *Client) ConsoleLink(ctx context.Context) (api.ConsoleLink, error) {
	return ask[api.ConsoleLink](ctx, c, c.prompt, http.MethodPost, "/v1/console/links", nil)
}

var errStreamEnded = errors.New("it went away before the end")

// Events tells what happens, by name and JSON, until ctx ends or told returns an
// error. The first call, without name, says that nothing is missed from then on.
func (c *Client) Events(ctx context.Context, told func(name string, data []byte) error) error {
	s, err := c.listen(ctx, http.MethodGet, "/v1/events", nil)
	if err != nil {
		return err
	}
	defer s.close()
	if err := told("", nil); err != nil {
		return err
	}
	for {
		name, data, err := s.event()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errStreamEnded
		case err != nil:
			return fmt.Errorf("following the events: %w", err)
		}
		if err := told(name, data); err != nil {
			return err
		}
	}
}

// tell sends a value.
func tell[T any](ctx context.Context, c *Client, patience time.Duration, method, path string, value any) (answer T, err error) {
	body, err := json.Marshal(value)
	if err != nil {
		return answer, fmt.Errorf("asking the sidecar: %w", err)
	}
	return ask[T](ctx, c, patience, method, path, body)
}
