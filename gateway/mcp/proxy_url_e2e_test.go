package mcp

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

const noteToken = "ntk_VALUEVALUEVALUEVALUEVALUE0123"

// noteServer is a server of the official SDK that wants a token, and the sections by which a sidecar
// reaches it.
func noteServer(t *testing.T) (server *sdk.Server, sections []string, address string, redirects *atomic.Bool) {
	t.Helper()
	server = sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	type note struct {
		Text string `json:"text"`
	}
	answer := func(_ context.Context, r *sdk.CallToolRequest, n note) (*sdk.CallToolResult, any, error) {
		said := n.Text + " by " + r.Extra.Header.Get("Authorization")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: said}}}, nil, nil
	}
	sdk.AddTool(server, &sdk.Tool{Name: "write"}, answer)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{DisableLocalhostProtection: true})
	redirects = new(atomic.Bool)
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case redirects.Load():
			http.Redirect(w, r, "https://other.example.com/mcp", http.StatusTemporaryRedirect)
		case r.Header.Get("Authorization") != "Bearer "+noteToken:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	service := web.Listener.Addr().String()
	_, port, _ := strings.Cut(service, ":")
	folder := apptest.OpenDir(t)
	authority, variables := filepath.Join(folder, "authority.pem"), filepath.Join(folder, "variables")
	for path, text := range map[string]string{variables: "NOTES_TOKEN=" + noteToken + "\n",
		authority: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}))} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host := "notes.example.com:" + port
	return server, []string{
		"egress: {hosts: {notes.example.com: 127.0.0.1, inner.example.com: 10.0.0.7}, own: [\"" + service +
			"\"], trust: [\"" + authority + "\"]}",
		"env: {sources: [\"file:" + variables + "\"]}",
		apptest.WithRules(t, "", "    mcp_tools:\n", "    mcp_tools:\n      notes: {write: ask, later: allow}\n",
			"    chats: {}\n", "    chats: {cli/mcp:notes: {network: {network: egress, egress: [\""+host+"\", inner.example.com]}}}\n",
			"    destinations:\n", "    destinations:\n      inner.example.com: [{}]\n"+
				"      notes.example.com: [{ports: ["+port+"], paths: [/mcp]}]\n",
			"    env:\n", "    env:\n      NOTES_TOKEN: [{platforms: [cli], programs: [curl], swap: {hosts: [\""+host+"\"]}}]\n"),
	}, "https://" + host + "/mcp", redirects
}

func TestAServerAtAURLIsReachedBehindTheSidecar(t *testing.T) {
	server, sections, address, redirects := noteServer(t)
	s := apptest.Serve(t, sections...)
	operators := s.Operators(t)
	changed := make(chan bool, 8)
	reach := func(at string, header ...string) (*sdk.ClientSession, error) {
		args := []string{"mcp", "notes", "--listen", s.Agent}
		for _, one := range header {
			args = append(args, "--header", one)
		}
		client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
			ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- true }})
		return client.Connect(t.Context(), &sdk.CommandTransport{Command: exec.Command( //nolint:gosec // a program of bailiff's
			filepath.Join(apptest.Programs(t), "bailiff-hook"), append(args, "--", at)...)}, nil)
	}
	const bearer = "Authorization: Bearer $NOTES_TOKEN"
	for want, c := range map[string][2]string{
		"answers 401 Unauthorized": {address, ""},
		"No variable OTHER may be": {address, "Authorization: Bearer $OTHER"},
		"egress.not_in_table":      {strings.Replace(address, "notes.", "other.", 1), bearer},
		"floor.address":            {"https://inner.example.com/mcp", bearer},
		"egress.not_this_request":  {address + "/elsewhere", bearer},
	} {
		header := slices.DeleteFunc([]string{c[1]}, func(h string) bool { return h == "" })
		if _, err := reach(c[0], header...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reaching %v ends with %v, want %q", c, err, want)
		}
	}
	redirects.Store(true)
	if _, err := reach(address, bearer); err == nil || !strings.Contains(err.Error(), "no redirect is followed") {
		t.Errorf("a redirect ends with %v", err)
	}
	redirects.Store(false)

	session, err := reach(address, bearer)
	if err != nil {
		t.Fatal(err)
	}
	list := func() (names []string) {
		t.Helper()
		listed, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	trust := func() {
		t.Helper()
		shown, err := operators.MCPServer(t.Context(), "notes")
		if err != nil || shown.Trusted || !slices.Equal(shown.Listing.Command, []string{address}) || shown.Listing.Name != "notes" ||
			!slices.Equal(shown.Listing.Headers, []string{bearer}) || !shown.Listing.Unpinned {
			t.Fatalf("an operator is shown %+v, %v", shown, err)
		}
		if _, err := operators.TrustMCP(t.Context(), "notes", shown.Digest); err != nil {
			t.Fatal(err)
		}
		<-changed
	}
	if names := list(); len(names) > 0 {
		t.Errorf("before a yes it is offered %v", names)
	}
	trust()
	if names := list(); !slices.Equal(names, []string{"write"}) {
		t.Errorf("after a yes it is offered %v", names)
	}
	called := make(chan string, 1)
	go func() {
		said := "nothing"
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "write", Arguments: map[string]any{"text": "milk"}})
		if err == nil && len(result.Content) == 1 {
			said = result.Content[0].(*sdk.TextContent).Text
		}
		called <- said
	}()
	shown, err := operators.Approval(t.Context(), s.Pending(t))
	if args := shown.Approval.Request.Args; err != nil || args.Arguments != "{\n  \"text\": \"milk\"\n}" || args.Server != "notes" {
		t.Errorf("a person is shown %+v, %v", shown.Approval.Request, err)
	}
	if _, err := operators.Approve(t.Context(), shown.Approval.ID, "once"); err != nil {
		t.Fatal(err)
	}
	if said := <-called; !strings.HasPrefix(said, "milk by Bearer ") || strings.Contains(said, noteToken) {
		t.Errorf("what was approved is answered %q", said)
	}
	sdk.AddTool(server, &sdk.Tool{Name: "later"}, func(context.Context, *sdk.CallToolRequest, any) (*sdk.CallToolResult, any, error) {
		return nil, nil, nil
	})
	<-changed
	if names := list(); len(names) > 0 {
		t.Errorf("with another list it is offered %v", names)
	}
	trust()
	if names := list(); !slices.Equal(names, []string{"later", "write"}) {
		t.Errorf("after another yes it is offered %v", names)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	wantNoToken(t, filepath.Join(filepath.Dir(s.Config), "state"))
}

// wantNoToken looks for the token in all that a sidecar keeps.
func wantNoToken(t *testing.T, folder string) {
	t.Helper()
	kept := 0
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if kept += strings.Count(string(text), "NOTES_TOKEN"); strings.Contains(string(text), noteToken) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil || kept == 0 {
		t.Errorf("its name is kept %d times, %v", kept, err)
	}
}
