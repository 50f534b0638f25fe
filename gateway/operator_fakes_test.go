package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// way lets everybody answer but bob, and asks as many as a test wants.
type way struct{ quorum int }

func (w way) Plan(bailiff.Claim) (api.Plan, error) {
	return api.Plan{Route: "all", Approvers: []string{"ana", "eve"}, Channels: []string{"operator"}, Quorum: w.quorum, Timeout: time.Hour},
		nil
}

func (way) May(who bailiff.Approver, _ bailiff.Claim, _ string) error {
	if who.Person == "bob" {
		return errors.New("bob asked for it; ana or eve can answer")
	}
	return nil
}

// office is a real book and a real decision log.
type office struct {
	*approval.Book
	log *audit.Log
}

func newOffice(t testing.TB, quorum int) *office {
	t.Helper()
	folder := t.TempDir()
	log, err := audit.Open(audit.Config{StateDir: folder})
	if err != nil {
		t.Fatal(err)
	}
	book, err := approval.Open(approval.Config{Path: filepath.Join(folder, "approvals.db"), Router: way{quorum}, Recorder: log,
		Caps: approval.Caps{Caller: 20_000, Session: 20_000, User: 20_000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(book.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	return &office{book, log}
}

// document is an input document.
type rawDocument string

func (d rawDocument) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// asking is a claim of a session that wants to run a command.
func asking(session, command string, matches ...string) bailiff.Claim {
	terms := &bailiff.ApprovalTerms{Scopes: []string{bailiff.ScopeOnce, bailiff.ScopeSession}, TimeoutSeconds: 3600, GrantSeconds: 3600,
		Quorum: 1}
	for _, match := range matches {
		terms.Reasons = append(terms.Reasons, bailiff.Reason{Rule: "command.deletes", Message: "It deletes.", Match: match})
	}
	text, err := json.Marshal(command)
	if err != nil {
		panic(err)
	}
	return bailiff.Claim{
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Caller: "hermes", Peer: "uid:1001",
			Session: bailiff.Session{ID: session, Platform: "telegram", ChatType: "dm", UserID: "42"}},
		Decision: bailiff.Decision{Outcome: bailiff.Ask, Approval: terms, Revision: "r1", Obligations: bailiff.Obligations{
			Backend: bailiff.BackendTerms{Name: "docker"}, Env: bailiff.EnvTerms{Forward: []string{"GITHUB_TOKEN"},
				Set: map[string]string{"CI": "1"}}}},
		DecisionID: "d-" + session, Files: []bailiff.File{{Path: "/workspace/x.sh", SHA256: "00"}},
		Input: rawDocument(fmt.Sprintf(`{"tool": "terminal", "command": {"text": %s}}`, text)),
	}
}

// ask asks and returns the approval's id.
func (o *office) ask(t testing.TB, c bailiff.Claim) string {
	t.Helper()
	a, err := o.Ask(t.Context(), c)
	if err != nil || a.State != bailiff.ApprovalPending {
		t.Fatalf("asked: %+v, %v", a, err)
	}
	return a.ID
}

// as says that everything comes from one person.
func as(person string) func(*http.Request) (bailiff.Approver, bool) {
	return func(*http.Request) (bailiff.Approver, bool) {
		return bailiff.Approver{Person: person, Credential: "uid:" + person, Channel: "operator"}, person != ""
	}
}

// config serves a sidecar and an office to one person.
func (o *office) config(s *sidecar, person string) OperatorConfig {
	return OperatorConfig{Statuser: s, Sandboxes: s, Approvals: o, Grants: o, Freezer: o,
		Projects: adopter{}, Sessions: pasts{}, Reports: reporter{}, Undo: undoer{}, MCP: truster{}, Decisions: o.log, History: laws{},
		Who: as(person), Permit: anything, BreakGlass: breaker{}, Link: linked}
}

// pasts remember one session.
type pasts struct{}

var remembered = api.Session{ID: "s1", Caller: "hermes", LastUsed: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}

func (pasts) List(int) ([]api.Session, error) { return []api.Session{remembered}, nil }

func (pasts) Show(id string) ([]api.SessionPast, error) {
	if id != remembered.ID {
		return nil, nil
	}
	return []api.SessionPast{{Session: remembered, History: &bailiff.SessionHistory{Complete: true, SessionFacts: &bailiff.SessionFacts{
		Files: []bailiff.FileFact{{Path: "/w/i.sh", SHA256: "ab", How: bailiff.Downloaded, At: remembered.LastUsed}},
		Hosts: []string{"x.test"}, CredentialsRead: []string{}, Findings: map[string]int{"session.runs_brought": 1},
		Reached: map[string]int64{"x.test": 10}, Forwarded: []string{"TOKEN"}, ApprovedBy: map[string]int{"ana": 1},
		Agents: []string{"a1"}},
		RunSeconds: 7}}}, nil
}

// reporter is busy with a year.
type reporter struct{}

func (reporter) Report(_ context.Context, days int) (api.Report, error) {
	switch days {
	case 365:
		return api.Report{}, fmt.Errorf("%w: another report is being made; try again in a moment", api.ErrBusy)
	case 366:
		return api.Report{}, errors.New("the disk is broken")
	}
	return api.Report{AsOf: remembered.LastUsed, Days: days, Summary: "1 events.", Tables: []api.ReportTable{
		{Title: "Rules", Head: []string{"rule"}, Rows: [][]string{{"command.kills"}}}}}, nil
}

type brokenReporter struct{}

func (brokenReporter) Report(context.Context, int) (api.Report, error) { panic("a bug") }

type brokenPasts struct{}

func (brokenPasts) List(int) ([]api.Session, error)        { panic("a bug") }
func (brokenPasts) Show(string) ([]api.SessionPast, error) { panic("a bug") }

// adopter has a change of one file.
type adopter struct{}

func (adopter) Adopt(path string, _ bailiff.Approver) (api.Adopted, error) {
	switch path {
	case "/p/.envrc":
		return api.Adopted{Path: path, Former: path + ".refused"}, nil
	case "/p/changed":
		return api.Adopted{}, errors.New("it was changed since")
	}
	return api.Adopted{}, api.ErrUnknown
}

// anything is permitted.
func anything(bailiff.Approver, string) error { return nil }

// breaker runs everything for everybody but bob.
type breaker struct{}

func (breaker) BreakGlass(_ context.Context, who bailiff.Approver, req bailiff.Request, reason string) (bailiff.Answer, error) {
	if who.Person == "bob" {
		return bailiff.Answer{}, fmt.Errorf("%w: bob is nobody", api.ErrIneligible)
	}
	return completed(req, reason), nil
}

func linked(bailiff.Approver) (string, time.Time) {
	return "http://127.0.0.1:8642/#once", since.Add(5 * time.Minute)
}

// laws were in force once, and bob may not put any in force. "gone" is not kept,
// "unsound" and "waiting" cannot be.
type laws struct{}

var lawful = api.Revision{Name: "r0", Content: "c0", Since: since, Way: history.ByFiles, Files: []string{"/etc/p.rego"},
	Bundles: map[string]string{"b": "v1"}}

func (laws) Revisions() ([]api.Revision, error) { return []api.Revision{lawful}, nil }

func (laws) Revision(name string) (api.Revision, []api.PolicyFile, error) {
	return lawful, []api.PolicyFile{{Name: "/etc/p.rego", Text: "package p\n"}}, changing(name)
}

func (laws) RollBack(_ context.Context, revision, _ string, who bailiff.Approver) error {
	if who.Person == "bob" {
		return fmt.Errorf("%w: bob is nobody", api.ErrIneligible)
	}
	return changing(revision)
}

func (laws) Resume(context.Context, bailiff.Approver) error { return nil }

func changing(revision string) error {
	return map[string]error{"gone": api.ErrRevisionUnknown, "unsound": api.ErrUnsound, "waiting": api.ErrNotRolledBack,
		"full": errStore}[revision]
}

// atRest are laws that nobody rolled back.
type atRest struct{ laws }

func (atRest) Resume(context.Context, bailiff.Approver) error { return api.ErrNotRolledBack }

// brokenLaws cannot be read.
type brokenLaws struct{}

func (brokenLaws) Revisions() ([]api.Revision, error)                               { panic("a bug") }
func (brokenLaws) Revision(string) (api.Revision, []api.PolicyFile, error)          { panic("a bug") }
func (brokenLaws) RollBack(context.Context, string, string, bailiff.Approver) error { panic("a bug") }
func (brokenLaws) Resume(context.Context, bailiff.Approver) error                   { panic("a bug") }

// brokenOffice is one in which everything fails.
type brokenOffice struct{}

var errStore = fmt.Errorf("%w: the disk is full", approval.ErrStore)

func (brokenOffice) List(api.Query) ([]api.Entry, string) { panic("a bug") }
func (brokenOffice) Get(string) (api.Entry, bool)         { panic("a bug") }
func (brokenOffice) Grants() []api.Grant                  { panic("a bug") }
func (brokenOffice) Freezes() []api.Freeze                { panic("a bug") }
func (brokenOffice) Answer(context.Context, string, bailiff.Approver, bailiff.Verdict) (api.Entry, error) {
	panic("a bug")
}
func (brokenOffice) Preview(string, string) (api.Preview, error) { panic("a bug") }
func (brokenOffice) Revoke(context.Context, string, bailiff.Approver) (api.Grant, error) {
	panic("a bug")
}
func (brokenOffice) Freeze(context.Context, api.Freeze) (api.Freeze, error) { panic("a bug") }
func (brokenOffice) Thaw(context.Context, string, string, bailiff.Approver) (bool, error) {
	panic("a bug")
}
func (brokenOffice) Watch() (<-chan api.Change, func()) { panic("a bug") }

func (brokenOffice) BreakGlass(context.Context, bailiff.Approver, bailiff.Request, string) (bailiff.Answer, error) {
	panic("a bug")
}

// fullOffice is one whose disk is full.
type fullOffice struct{ brokenOffice }

func (fullOffice) Answer(context.Context, string, bailiff.Approver, bailiff.Verdict) (api.Entry, error) {
	return api.Entry{}, errStore
}
func (fullOffice) Revoke(context.Context, string, bailiff.Approver) (api.Grant, error) {
	return api.Grant{}, errStore
}
func (fullOffice) Freeze(context.Context, api.Freeze) (api.Freeze, error) {
	return api.Freeze{}, errStore
}
func (fullOffice) Thaw(context.Context, string, string, bailiff.Approver) (bool, error) {
	return false, errStore
}

func (brokenOffice) Adopt(string, bailiff.Approver) (api.Adopted, error) { panic("a bug") }

// brokenLog is a log in which everything fails.
type brokenLog struct{}

func (brokenLog) Recent(string, int) [][]byte    { panic("a bug") }
func (brokenLog) Watch() (<-chan []byte, func()) { panic("a bug") }

var brokenConfig = OperatorConfig{Statuser: broken{}, Sandboxes: broken{}, Approvals: brokenOffice{}, Grants: brokenOffice{},
	Freezer: brokenOffice{}, Projects: brokenOffice{}, Undo: brokenUndoer{}, MCP: brokenTruster{},
	Decisions: brokenLog{}, History: brokenLaws{}, Sessions: brokenPasts{}, Reports: brokenReporter{},
	Who: as("ana"), Permit: anything, BreakGlass: brokenOffice{},
	Link: func(bailiff.Approver) (string, time.Time) { panic("a bug") }}

func (o *office) handler(t testing.TB, person string) http.Handler {
	t.Helper()
	h, err := NewOperator(o.config(&sidecar{}, person))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// undoer knows one command, c1.
type undoer struct{}

var keptCommand = api.Command{ID: "c1", Text: "rm -r src", Folders: []string{"/p"}}

func (undoer) Commands(string) []api.Command { return []api.Command{keptCommand} }

func (undoer) Changes(_ context.Context, id string, _ bool) (api.Changes, error) {
	if id != keptCommand.ID {
		return api.Changes{}, fmt.Errorf("%w: no snapshot was taken for %s", api.ErrUnknown, id)
	}
	return api.Changes{Command: keptCommand, Folders: []api.FolderChanges{{Folder: "/p", Known: true,
		Changes: []api.FileChange{{Path: "src/a", Kind: "deleted", Removed: 1}},
		Unkept:  []api.Unkept{{Path: ".git", Why: "it is git's"}}}}}, nil
}

func (undoer) Undo(_ context.Context, _ bailiff.Approver, id string, _ api.Undoing) (api.Undone, error) {
	if id != keptCommand.ID {
		return api.Undone{}, fmt.Errorf("%w: no snapshot was taken for %s", api.ErrUnknown, id)
	}
	return api.Undone{ID: "u1", Restored: []string{"src/a"}, Left: []string{}, Failed: []string{}}, nil
}

// brokenUndoer panics, as what is broken does.
type brokenUndoer struct{}

func (brokenUndoer) Commands(string) []api.Command { panic("broken") }

func (brokenUndoer) Changes(context.Context, string, bool) (api.Changes, error) { panic("broken") }

func (brokenUndoer) Undo(context.Context, bailiff.Approver, string, api.Undoing) (api.Undone, error) {
	panic("broken")
}

// truster knows one MCP server, files, which changes as soon as it is looked at.
type truster struct{}

var files = api.MCPServer{Server: "files", Digest: "d1", Listing: api.MCPListing{Command: []string{"serve"}, Files: []bailiff.File{},
	Tools: []api.MCPTool{{Name: "read", Definition: []byte(`{"name":"read"}`)}}},
	Changes: []api.MCPChange{{What: "version", Before: "1", After: "2"}}}

func (truster) List() []api.MCPServer { return []api.MCPServer{files} }

func (truster) Show(server string) (api.MCPServer, error) {
	if server != files.Server {
		return api.MCPServer{}, fmt.Errorf("no client reached %s: %w", server, api.ErrUnknown)
	}
	return files, nil
}

func (t truster) Trust(server, digest string, _ bailiff.Approver) (api.MCPServer, error) {
	if digest != files.Digest {
		return api.MCPServer{}, errors.New("it changed since it was shown")
	}
	return t.Show(server)
}

func (t truster) Forget(server string, _ bailiff.Approver) error {
	if server == "shy" {
		return fmt.Errorf("not yours: %w", api.ErrIneligible)
	}
	if server == "stuck" {
		return errors.New("the disk is full")
	}
	_, err := t.Show(server)
	return err
}

// brokenTruster panics, as what is broken does.
type brokenTruster struct{}

func (brokenTruster) List() []api.MCPServer { panic("broken") }

func (brokenTruster) Show(string) (api.MCPServer, error) { panic("broken") }

func (brokenTruster) Trust(string, string, bailiff.Approver) (api.MCPServer, error) { panic("broken") }

func (brokenTruster) Forget(string, bailiff.Approver) error { panic("broken") }
