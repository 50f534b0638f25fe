package vercel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// client asks Vercel's API, for a team and its project.
type client struct {
	api                     *httpapi.Client
	endpoint, team, project string
}

func newClient(cfg Config) *client {
	read := func() (bailiff.Secret, error) {
		token, err := cfg.Token.Read()
		if err != nil {
			err = fmt.Errorf("backends.vercel.token: %w", err)
		}
		return token, err
	}
	return &client{httpapi.New(httpapi.Config{Name: "Vercel", Credential: read, Reason: reason}),
		strings.TrimRight(cfg.Endpoint, "/"), cfg.Team, cfg.Project}
}

// do asks a call whose address is a path.
func (c *client) do(ctx context.Context, call httpapi.Call) error {
	return c.api.Do(ctx, c.ofTeam(call))
}

func (c *client) stream(ctx context.Context, call httpapi.Call) (io.ReadCloser, error) {
	return c.api.Stream(ctx, c.ofTeam(call))
}

func (c *client) ofTeam(call httpapi.Call) httpapi.Call {
	query := url.Values{"teamId": {c.team}}
	maps.Copy(query, call.Query)
	call.Address, call.Query = c.endpoint+call.Address, query
	return call
}

// reason is what Vercel says of what it did not do.
func reason(body []byte) (code, message string) {
	var said struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(body, &said) // something on the way may have answered
	return said.Error.Code, said.Error.Message
}
