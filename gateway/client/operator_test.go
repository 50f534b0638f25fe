package client

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/judging/history"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// everybody may answer.
type everybody struct{}

func (everybody) Plan(bailiff.Claim) (api.Plan, error) {
	return api.Plan{Route: "all", Approvers: []string{"root"}, Channels: []string{"operator"}, Quorum: 1, Timeout: time.Hour}, nil
}
func (everybody) May(bailiff.Approver, bailiff.Claim, string) error { return nil }

// laws are one revision, which may be put in force.
// adopter has a change of each file.
type adopter struct{}

func (adopter) Adopt(path string, who bailiff.Approver) (api.Adopted, error) {
	return api.Adopted{Path: path, Former: who.Person}, nil
}

type laws struct{}

var lawful = api.Revision{Name: "r/0", Way: history.ByFiles}

func (laws) Revisions() ([]api.Revision, error) { return []api.Revision{lawful}, nil }
func (laws) Revision(name string) (api.Revision, []api.PolicyFile, error) {
	if name != lawful.Name {
		return lawful, nil, api.ErrRevisionUnknown
	}
	return lawful, []api.PolicyFile{{Name: "p.rego", Text: "package p"}}, nil
}
func (laws) RollBack(_ context.Context, name, reason string, who bailiff.Approver) error {
	if name != lawful.Name || reason != "why" || who.Person != "root" {
		return api.ErrRevisionUnknown
	}
	return nil
}
func (laws) Resume(context.Context, bailiff.Approver) error { return api.ErrNotRolledBack }

// operators is a client of a listener with a real book behind it.
func operators(t *testing.T) (*Client, *approval.Book) {
	t.Helper()
	folder := t.TempDir()
	log, err := audit.Open(audit.Config{StateDir: folder})
	if err != nil {
		t.Fatal(err)
	}
	book, err := approval.Open(approval.Config{Path: filepath.Join(folder, "approvals.db"), Router: everybody{}, Recorder: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(book.Close(), log.Close()) })
	h, err := gateway.NewOperator(gateway.OperatorConfig{Statuser: sidecar{}, Sandboxes: sidecar{}, Approvals: book, Grants: book,
		Freezer: book, Projects: adopter{}, Sessions: struct{ gateway.Sessions }{}, Reports: struct{ gateway.Reporter }{},
		Decisions: log, History: laws{}, Who: gateway.ByPeer(func(_ uint32, channel string) bailiff.Approver {
			return bailiff.Approver{Person: "root", Credential: "uid:0", Channel: channel}
		}), Permit: func(bailiff.Approver, string) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(t, open(t, gateway.ListenerConfig{}, h)), book
}

// asked is the id of an approval that a session waits for.
func asked(t *testing.T, book *approval.Book, session string) string {
	t.Helper()
	a, err := book.Ask(t.Context(), bailiff.Claim{
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm x"},
			Session: bailiff.Session{ID: session, Platform: "telegram", UserID: "42"}},
		Decision: bailiff.Decision{Outcome: bailiff.Ask,
			Approval: &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "r", Message: "m", Match: "rm"}},
				Scopes: []string{"once", "session"}, TimeoutSeconds: 60, GrantSeconds: 60, Quorum: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func TestAnOperatorTakesAChangeThatWasPutBack(t *testing.T) {
	c, _ := operators(t)
	if got, err := c.Adopt(t.Context(), "/p/.envrc"); err != nil || got != (api.Adopted{Path: "/p/.envrc", Former: "root"}) {
		t.Errorf("adopted %+v, %v", got, err)
	}
}

func TestOperatorsAnswer(t *testing.T) {
	c, book := operators(t)
	yes, no := asked(t, book, "s1"), asked(t, book, "s/2")
	if page, err := c.Approvals(t.Context(), api.Query{Session: "s/2", State: bailiff.ApprovalPending, User: "42", Limit: 7}); err != nil ||
		len(page.Approvals) != 1 || page.Approvals[0].ID != no {
		t.Errorf("listed %+v, %v", page, err)
	}
	if shown, err := c.Approval(t.Context(), yes); err != nil || shown.Approval.ID != yes || len(shown.Marks) != 1 {
		t.Errorf("shown %+v, %v", shown, err)
	}
	var p *api.Problem
	if _, err := c.Approve(t.Context(), yes, "always"); !errors.As(err, &p) || p.Code != "scope_not_offered" {
		t.Errorf("a scope that is not offered: %v", err)
	}
	approved, err := c.Approve(t.Context(), yes, "session")
	if err != nil || approved.State != bailiff.ApprovalApproved || approved.Scope != "session" {
		t.Errorf("approved %+v, %v", approved, err)
	}
	if denied, err := c.Deny(t.Context(), no, "because"); err != nil || denied.State != bailiff.ApprovalDenied ||
		denied.Votes[0].Reason != "because" {
		t.Errorf("denied %+v, %v", denied, err)
	}
	if grants, err := c.Grants(t.Context()); err != nil || len(grants) != 1 || grants[0].ID != approved.GrantID {
		t.Errorf("the grants are %+v, %v", grants, err)
	}
	if g, err := c.Revoke(t.Context(), approved.GrantID); err != nil || g.ApprovalID != yes {
		t.Errorf("revoked %+v, %v", g, err)
	}
}

func TestOperatorsFreeze(t *testing.T) {
	c, _ := operators(t)
	if f, err := c.Freeze(t.Context(), api.Freezing{Kind: "session", ID: "s/1", Reason: "odd"}); err != nil || f.By != "root" {
		t.Errorf("frozen %+v, %v", f, err)
	}
	if list, err := c.Freezes(t.Context()); err != nil || len(list) != 1 || list[0].Reason != "odd" {
		t.Errorf("frozen is %+v, %v", list, err)
	}
	var p *api.Problem
	if err := c.Thaw(t.Context(), "all", ""); !errors.As(err, &p) || p.Code != "freeze_unknown" {
		t.Errorf("thawing what is not frozen: %v", err)
	}
	if err := c.Thaw(t.Context(), "session", "s/1"); err != nil {
		t.Errorf("thawing: %v", err)
	}
}

func TestOperatorsRollBack(t *testing.T) {
	c, _ := operators(t)
	if list, err := c.Revisions(t.Context()); err != nil || len(list) != 1 || list[0].Name != lawful.Name {
		t.Errorf("there are %+v, %v", list, err)
	}
	if shown, err := c.Revision(t.Context(), lawful.Name); err != nil || len(shown.Texts) != 1 || shown.Texts[0].Text != "package p" {
		t.Errorf("shown is %+v, %v", shown, err)
	}
	if now, err := c.RollBack(t.Context(), lawful.Name, "why"); err != nil ||
		now.Revision != (sidecar{}).Status(t.Context()).Policies.Revision {
		t.Errorf("in force is %+v, %v", now, err)
	}
	var p *api.Problem
	if _, err := c.Resume(t.Context()); !errors.As(err, &p) || p.Code != "not_rolled_back" {
		t.Errorf("ending no rollback: %v", err)
	}
}

func TestOperatorsAreToldWhatHappens(t *testing.T) {
	c, book := operators(t)
	enough := errors.New("enough")
	var id string
	err := c.Events(t.Context(), func(name string, data []byte) error {
		if name == "" {
			id = asked(t, book, "s1") // which must not be missed
			return nil
		}
		var e api.Entry
		if err := json.Unmarshal(data, &e); err != nil || name != "approval" || e.ID != id {
			t.Errorf("told of %s %s, %v", name, data, err)
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Errorf("ended by %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.Events(ctx, func(string, []byte) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by %v", err)
	}
	if err := c.Events(t.Context(), func(string, []byte) error { return book.Close() }); !errors.Is(err, errStreamEnded) {
		t.Errorf("ended by %v", err)
	}
}
