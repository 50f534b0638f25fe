package gateway

import (
	"errors"
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func (o *operator) mcpServers(*http.Request) (any, *api.Problem) {
	return api.MCPServers{Servers: o.config.MCP.List()}, nil
}

func (o *operator) mcpServer(r *http.Request) (any, *api.Problem) {
	shown, err := o.config.MCP.Show(r.PathValue("name"))
	return ofMCP(shown, err)
}

func (o *operator) trustMCP(r *http.Request, who bailiff.Approver, wish api.MCPTrusting) (any, *api.Problem) {
	shown, err := o.config.MCP.Trust(r.PathValue("name"), wish.Digest, who)
	return ofMCP(shown, err)
}

func (o *operator) forgetMCP(r *http.Request, who bailiff.Approver) (any, *api.Problem) {
	if err := o.config.MCP.Forget(r.PathValue("name"), who); err != nil {
		return ofMCP(api.MCPServer{}, err)
	}
	return nil, nil
}

// ofMCP is a server, or why it is not shown.
func ofMCP(shown api.MCPServer, err error) (any, *api.Problem) {
	switch {
	case err == nil:
		return shown, nil
	case errors.Is(err, api.ErrUnknown):
		return nil, problem(http.StatusNotFound, "mcp_server_unknown", bailiff.Sentence(err.Error()))
	case errors.Is(err, api.ErrIneligible):
		return nil, refusal("", err)
	}
	return nil, problem(http.StatusConflict, "not_trusted", bailiff.Sentence(err.Error()))
}
