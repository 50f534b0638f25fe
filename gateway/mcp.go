package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// mcpChats begins the chats of the sessions in which the sidecar itself starts MCP servers,
// which the policies' table of chats may name.
const mcpChats = "mcp:"

// MCPChat is the chat of the sessions in which the sidecar starts an MCP server.
func MCPChat(server string) string { return mcpChats + server }

// offeredPath is where the policies list the tools of a server that they do not deny.
const offeredPath = "bailiff/mcp_offered"

// ServeMCP executes a request that the sidecar makes for the client of an MCP server: the
// start of the server, or a call of a tool. News is told of all of it. An error is a
// [*api.Problem].
func (a *Agent) ServeMCP(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) (bailiff.Answer, error) {
	var c checker
	c.session(&req.Session)
	c.env(req.Env)
	c.workdir(req.Args.Workdir)
	c.short("/args/name", req.Args.Name, longestName)
	c.short("/args/server", req.Args.Server, longestName)
	c.short("/backend", req.Backend, longestName)
	c.seconds("/wait_seconds", req.WaitSeconds)
	if len(req.Args.Arguments)+len(req.Args.Command) > LargestRequest {
		c.fault("/args", "are longer than 1 MiB")
	}
	if len(c.faults) > 0 {
		return bailiff.Answer{}, refusalProblem(codeRequest, c.faults)
	}
	req, p := a.agent.claim(req)
	if p != nil {
		return bailiff.Answer{}, p
	}
	return a.agent.config.Enforcer.Execute(ctx, req, news), nil
}

// AnswerMCP ends a call of a tool of a server, of which the news told.
func (a *Agent) AnswerMCP(id, result string, isError bool) error {
	return a.agent.config.Tools.AnswerTool(a.agent.config.Name, id, result, isError)
}

// OfferedByMCP are the tools of a server that the policies do not deny in a session.
func (a *Agent) OfferedByMCP(ctx context.Context, req bailiff.Request) (names []string, err error) {
	if a.agent.config.Evaluator == nil {
		return nil, nil
	}
	req, p := a.agent.claim(req)
	if p != nil {
		return nil, p
	}
	req, at := a.agent.config.Circumstances(ctx, req)
	result, defined, err := a.agent.config.Evaluator.Query(ctx, req, at, offeredPath)
	if err != nil || !defined {
		return nil, err
	}
	text, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(text, &names)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s of the policies: %w", offeredPath, err)
	}
	return names, nil
}

// refuseMCP keeps requests out that the sidecar alone makes.
func (a *agent) refuseMCP(req bailiff.Request) *api.Problem {
	if req.Tool != bailiff.MCP {
		return nil
	}
	return problem(http.StatusBadRequest, codeRequest,
		"A tool of an MCP server is called by \"bailiff mcp proxy\", which speaks with the server; POST /v1/decide judges it.")
}

// mcp checks the arguments of a request that asks about a tool of an MCP server.
func (c *checker) mcp(a *bailiff.Args) {
	for at, s := range map[string]string{"/args/server": a.Server, "/args/name": a.Name} {
		if s == "" {
			c.fault(at, "is missing")
		}
		c.short(at, s, longestName)
	}
}

// ownChat refuses to speak in a chat of the sidecar's own.
func (c *checker) ownChat(s *bailiff.Session) {
	if strings.HasPrefix(s.ChatID, mcpChats) {
		c.fault("/session/chat_id", "begins with %q, as chats of the sidecar's own servers do", mcpChats)
	}
}
