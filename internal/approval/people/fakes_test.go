package people

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func roster(t *testing.T, text, settings string) *Roster {
	t.Helper()
	if settings != "" {
		text = strings.Replace(text, "allow_same_user: false", settings, 1)
	}
	c, err := config.Parse("/etc/bailiff.yaml", []byte(text), catalogue.All())
	must(t, err)
	r, err := New(c, noLogins{})
	must(t, err)
	return r
}

// noLogins is where no person has logged in yet.
type noLogins struct{}

func (noLogins) Groups(string) []string { return nil }

func from(listener, peer, platform, user string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Caller: listener, Peer: peer,
		Session: bailiff.Session{ID: "s", Platform: platform, UserID: user}}
}

func claim(req bailiff.Request, terms bailiff.ApprovalTerms) bailiff.Claim {
	return bailiff.Claim{Request: req, Decision: bailiff.Decision{Outcome: bailiff.Ask, Approval: &terms}}
}

func because(rule string) bailiff.ApprovalTerms {
	return bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: rule}}}
}

func ana() bailiff.Approver {
	return bailiff.Approver{Person: "ana", Groups: []string{"security"}, Credential: "uid:1000", Channel: "operator"}
}

func ben() bailiff.Approver {
	return bailiff.Approver{Person: "ben", Groups: []string{"security", "ops"}, Credential: "uid:1002", Channel: "operator"}
}

func dora() bailiff.Approver {
	return bailiff.Approver{Person: "dora", Credential: "uid:1004", Channel: "operator"}
}

func nobodys() bailiff.Approver {
	return bailiff.Approver{Credential: "uid:1009", Channel: "operator"}
}

func reaches(listener string) string {
	return "the agent of listener " + listener + " could reach the operators' socket itself, so give it a user of its own"
}

func sentence(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
