package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/mcp/streamable"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// isURL says that a server is reached, and not started.
func isURL(command []string) bool { return len(command) == 1 && strings.Contains(command[0], "://") }

// headerShape is a header with the value of a variable, after a scheme if it has one.
var headerShape = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]{0,63}): ?([A-Za-z]+ )?\$([A-Za-z_][A-Za-z0-9_]*)$`)

// ownHeaders begin the names of those that only the transport sends.
var ownHeaders = regexp.MustCompile(`(?i)^(accept|connection|content-|cookie|expect|host|keep-alive|last-event-id|mcp-|proxy-|te:|` +
	`trailer|transfer-|upgrade)`)

// remote is an opening of a connection to a server at a URL, with the variables that its headers name.
func remote(o api.MCPOpening) (_ api.MCPOpening, wrong string) {
	at, err := url.Parse(o.Command[0])
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }
	switch {
	case err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Hostname() == "" || at.User != nil || at.Fragment != "" ||
		strings.ContainsFunc(o.Command[0], odd):
		return o, "Want the MCP server's URL as https://host/path, in ASCII, without a user, a password and a fragment."
	case o.Workdir != "" || len(o.Env) > 0:
		return o, "An MCP server at a URL has no working folder, and gets variables by headers alone."
	}
	for _, header := range o.Headers {
		parts := headerShape.FindStringSubmatch(header)
		if parts == nil || ownHeaders.MatchString(header) {
			return o, fmt.Sprintf("Want a header as in 'Authorization: Bearer $TOKEN', with the name of a variable that the sidecar has, "+
				"and none of the transport's own; number %d is another.", len(o.Env)+1)
		}
		o.Env = append(o.Env, parts[3])
	}
	return o, ""
}

// header are the headers of a server's requests, with what stands for the values of variables.
func header(written []string, standIns map[string]bailiff.Secret) (http.Header, error) {
	all := http.Header{}
	for _, one := range written {
		parts := headerShape.FindStringSubmatch(one)
		value, has := standIns[parts[3]]
		if !has {
			return nil, fmt.Errorf("no variable %s may be sent to the server: have the table env name it, with swap", parts[3])
		}
		all.Set(parts[1], parts[2]+value.Reveal())
	}
	return all, nil
}

// fetching is the command as which the policies judge that a URL is reached.
func fetching(address string) string { return shellquote.Join("curl", "--", address) }

// reach connects to the server at a URL, and returns when that has ended.
func (s *session) reach(req bailiff.Request, up chan<- []bailiff.File) {
	life, end := context.WithCancel(context.WithoutCancel(s.ctx))
	defer end()
	early := context.AfterFunc(s.ctx, end)
	why := make(chan string, 1)
	gone := func(words string) {
		why <- words
		end()
	}
	answer, err := s.sidecar.ServeMCP(life, req, func(p bailiff.Progress) {
		if p.Outlet == nil || !early() { // from here on the server is told of the end
			return
		}
		server, err := s.connect(p.Outlet, gone)
		if err != nil {
			gone(err.Error())
			return
		}
		s.running.Go(func() {
			defer end()
			defer server.Close()
			s.speak(server.Say)
		})
		up <- []bailiff.File{}
	})
	select {
	case words := <-why:
		answer, err = bailiff.Answer{Status: bailiff.Interrupted, Message: bailiff.Sentence(words)}, nil
	default:
	}
	s.over(answer, err)
}

func (s *session) connect(by *bailiff.Outlet, gone func(string)) (*streamable.Server, error) {
	head, err := header(s.opening.Headers, by.StandIns)
	if err != nil {
		return nil, err
	}
	return streamable.New(s.ctx, streamable.Config{URL: s.opening.Command[0], Header: head, Outlet: by, Take: s.takeFromServer, Gone: gone,
		Log: s.log})
}
