package people

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval"
)

// The office: ana and ben operate, carl only chats, dora operates too but is in
// no group. Uid 1009 operates and is nobody's. Hermes runs as a user of its own.
const office = `
agent:
  listeners:
    - {name: hermes, listen: unix:///run/agent.sock, uids: [1001]}
    - {name: open, listen: unix:///run/open.sock}
    - {name: root, listen: unix:///run/root.sock, uids: [0]}
    - {name: shared, listen: unix:///run/shared.sock, uids: [1001, 1002]}
    - {name: terminals, listen: unix:///run/cli.sock, uids: [2000, 2003], platforms: [cli]}
    - {name: far, listen: "tcp://0.0.0.0:8640", token_file: token}
operator: {uids: [1000, 1002, 1004, 1009], console: "127.0.0.1:8642", allow_same_user: false}
people:
  - {name: ana, groups: [security], uids: [1000, 2000], telegram: ["42"], slack: [U07A]}
  - {name: ben, groups: [security, ops], uids: [1002], telegram: ["43"]}
  - {name: carl, uids: [2003], telegram: ["44"]}
  - {name: dora, uids: [1004], telegram: ["45"]}
`

func TestWhoMayAnswerWhat(t *testing.T) {
	t.Parallel()
	const one = "allow_same_user: true"
	fromAna := from("hermes", "uid:1001", "telegram", "42")
	fromStranger := from("hermes", "uid:1001", "telegram", "99")
	unattended := fromAna
	unattended.Session.Unattended = true
	for name, test := range map[string]struct {
		settings string
		who      bailiff.Approver
		asks     bailiff.Request
		why      string // empty: they may
	}{
		"somebody else may": {"", ben(), fromAna, ""},
		"by the console too": {"", bailiff.Approver{Person: "ben", Credential: "uid:1002", Channel: "console"},
			fromAna, ""},
		"the requester may not": {"", ana(), fromAna, "not yours to answer: ana asked for it; ask ben or dora"},
		"nor by the console": {"", bailiff.Approver{Person: "ana", Credential: "uid:1000", Channel: "console"},
			fromAna, "ana asked for it"},
		"the same id on another platform is not me": {"", ana(), from("hermes", "uid:1001", "discord", "42"), ""},
		"another account of mine is me":             {"", ana(), from("hermes", "uid:1001", "slack", "U07A"), "ana asked for it"},

		"a stranger's request takes who is known": {"", ana(), fromStranger, ""},
		"and not who is nobody": {"", nobodys(), fromStranger,
			"uid:1009 belongs to no person in people; ask ana, ben or dora"},
		"an operator of no person answers nothing": {"", nobodys(), fromAna, "uid:1009 belongs to no person in people; ask ben or dora"},
		"nor in the name of somebody": {"", bailiff.Approver{Person: "ben", Credential: "uid:1009", Channel: "operator"},
			fromAna, "uid:1009 is another person now"},
		"nor as who is no operator": {"", bailiff.Approver{Person: "carl", Credential: "uid:2003", Channel: "operator"},
			fromAna, "uid:2003 is not among operator.uids"},
		"nor by a credential of no kind": {"", bailiff.Approver{Person: "ben", Credential: "ben", Channel: "operator"}, fromAna,
			"ben is not among operator.uids"},
		"nor by a channel of no route": {"", bailiff.Approver{Person: "ben", Credential: "uid:1002", Channel: "telegram"},
			fromAna, "route default takes answers by operator or console only"},
		"at a terminal, the user is the requester": {"", ana(), from("terminals", "uid:2000", "cli", ""),
			"ana asked for it; ask ben or dora"},
		"and not who is named in the session":       {"", ben(), from("terminals", "uid:2000", "cli", "43"), ""},
		"at a terminal, somebody else may":          {"", ben(), from("terminals", "uid:2000", "cli", ""), ""},
		"an agent's user is a requester in chats":   {"", ana(), from("terminals", "uid:2000", "telegram", "43"), "ana asked for it"},
		"an unattended session is nobody's own":     {"", ana(), unattended, ""},
		"but takes who is known":                    {"", nobodys(), unattended, "uid:1009 belongs to no person in people"},
		"a remote agent cannot reach the socket":    {"", ben(), from("far", "tcp:remote", "telegram", "42"), ""},
		"one on this machine could":                 {"", ben(), from("far", "tcp:local", "telegram", "42"), reaches("far")},
		"one with an unknown peer could":            {"", ben(), from("far", "", "telegram", "42"), reaches("far")},
		"one without listed users could":            {"", ben(), from("open", "uid:1001", "telegram", "42"), reaches("open")},
		"root could":                                {"", ben(), from("root", "uid:0", "telegram", "42"), reaches("root")},
		"one whose users include an operator could": {"", ana(), from("shared", "uid:1001", "telegram", "43"), reaches("shared")},
		"one of a listener that is gone could":      {"", ben(), from("gone", "uid:1001", "telegram", "42"), reaches("gone")},
		"an operator's own credential could":        {"", ben(), from("hermes", "uid:1002", "telegram", "42"), reaches("hermes")},
		"the console is no way around that": {"", bailiff.Approver{Person: "ben", Credential: "uid:1002", Channel: "console"},
			from("open", "uid:1001", "telegram", "42"), reaches("open")},

		"alone, the requester may":        {one, ana(), fromAna, ""},
		"alone, nobody in particular may": {one, nobodys(), fromAna, ""},
		"alone, the agent's user may":     {one, ben(), from("shared", "uid:1002", "telegram", "43"), ""},
		"alone, who is no operator may not": {one, bailiff.Approver{Person: "carl", Credential: "uid:2003", Channel: "operator"},
			fromAna, "uid:2003 is not among operator.uids"},
		"alone, a name needs its credential": {one, bailiff.Approver{Person: "ben", Credential: "uid:1009", Channel: "operator"},
			fromAna, "uid:1009 is another person now"},
		"alone, an unknown channel is none too": {one, bailiff.Approver{Person: "ben", Credential: "uid:1002", Channel: "telegram"},
			fromAna, "takes answers by operator or console only"},
	} {
		t.Run(name, func(t *testing.T) {
			err := roster(t, office, test.settings).May(test.who, bailiff.Claim{Request: test.asks}, "default")
			if got := sentence(err); test.why == "" && err != nil || !strings.Contains(got, test.why) {
				t.Errorf("got %q\nwant %q", got, test.why)
			}
		})
	}
}

func TestConditionsOnApprovers(t *testing.T) {
	t.Parallel()
	routes := `
approvals:
  routes:
    - {name: secrets, approvers: '"security" in approver.groups && approver.channel == "console"', channels: [console]}
`
	broken := `
approvals: {routes: [{name: secrets, approvers: 'approver.groups[1] == "ops"'}]}
`
	console := func(a bailiff.Approver) bailiff.Approver { a.Channel = "console"; return a }
	for name, test := range map[string]struct {
		routes string
		who    bailiff.Approver
		why    string
	}{
		"whom the condition names may": {routes, console(ben()), ""},
		"whom it does not name may not": {routes, console(dora()),
			"not yours to answer: dora is not among the approvers of route secrets; ask ben"},
		"another channel may not":                   {routes, ben(), "route secrets takes answers by console only"},
		"separation of duties holds on routes too":  {routes, console(ana()), "ana asked for it; ask ben"},
		"one that holds for some may fail for some": {broken, ben(), ""},
		"one that fails lets nobody answer": {broken, dora(),
			"the approvers of route secrets cannot be told: index out of bounds: 1; ask ben"},
	} {
		t.Run(name, func(t *testing.T) {
			err := roster(t, office+test.routes, "").May(test.who, bailiff.Claim{Request: from("hermes", "uid:1001", "telegram", "42")},
				"secrets")
			if got := sentence(err); test.why == "" && err != nil || !strings.Contains(got, test.why) {
				t.Errorf("got %q\nwant %q", got, test.why)
			}
		})
	}
	err := roster(t, office+routes, "").May(ben(), bailiff.Claim{Request: from("hermes", "uid:1001", "telegram", "42")}, "default")
	if sentence(err) != "nobody can answer: there is no route default any more" {
		t.Errorf("a route that is gone: %v", err)
	}
}

const routes = `
approvals:
  timeout: 5m
  routes:
    - name: secrets
      when: 'decision.approval.reasons.exists(r, r.rule.startsWith("secrets."))'
      approvers: '"security" in approver.groups'
      quorum: 2
      timeout: 10m
      channels: [operator]
    - {name: quick, when: request.session.platform == "slack", timeout: 30s}
    - {name: long, when: size(request.args.command) > 9, timeout: 2m}
`

func TestHowAQuestionGoesToPeople(t *testing.T) {
	t.Parallel()
	both := []string{"operator", "console"}
	stranger := from("hermes", "uid:1001", "telegram", "99")
	for name, test := range map[string]struct {
		text, settings string
		asks           bailiff.Request
		terms          bailiff.ApprovalTerms
		want           api.Plan
	}{
		"without routes, to everybody who can be reached": {office, "", stranger, bailiff.ApprovalTerms{},
			api.Plan{Route: "default", Approvers: []string{"ana", "ben", "dora"}, Channels: both, Quorum: 1, Timeout: 5 * time.Minute}},
		"but the requester": {office, "", from("hermes", "uid:1001", "telegram", "42"), bailiff.ApprovalTerms{},
			api.Plan{Route: "default", Approvers: []string{"ben", "dora"}, Channels: both, Quorum: 1, Timeout: 5 * time.Minute}},
		"alone, to operators who are nobody too": {office, "allow_same_user: true", from("open", "uid:1000", "telegram", "42"),
			bailiff.ApprovalTerms{},
			api.Plan{Route: "default", Approvers: []string{"ana", "ben", "dora", "uid:1009"}, Channels: both, Quorum: 1,
				Timeout: 5 * time.Minute}},
		"by the first route that takes it": {office + routes, "", from("hermes", "uid:1001", "slack", "x"), because("secrets.read"),
			api.Plan{Route: "secrets", Approvers: []string{"ana", "ben"}, Channels: []string{"operator"}, Quorum: 2,
				Timeout: 5 * time.Minute}},
		"by the next one": {office + routes, "", from("hermes", "uid:1001", "slack", "x"), because("command.installs"),
			api.Plan{Route: "quick", Approvers: []string{"ana", "ben", "dora"}, Channels: both, Quorum: 1, Timeout: 30 * time.Second}},
		"as many as the policies want": {office + routes, "", from("hermes", "uid:1001", "slack", "x"),
			bailiff.ApprovalTerms{Quorum: 3, TimeoutSeconds: 20},
			api.Plan{Route: "quick", Approvers: []string{"ana", "ben", "dora"}, Channels: both, Quorum: 3, Timeout: 20 * time.Second}},
		"as many as the route wants": {office + routes, "", stranger,
			bailiff.ApprovalTerms{Quorum: 1, TimeoutSeconds: 600, Reasons: because("secrets.x").Reasons},
			api.Plan{Route: "secrets", Approvers: []string{"ana", "ben"}, Channels: []string{"operator"}, Quorum: 2,
				Timeout: 5 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := roster(t, test.text, test.settings).Plan(claim(test.asks, test.terms))
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, test.want)
			}
		})
	}
}

func TestWhenNobodyCanAnswerItIsSaidWhy(t *testing.T) {
	t.Parallel()
	broken := `
approvals: {routes: [{name: odd, when: 'decision.approval.reasons[3].rule == "x"'}, {name: rest}]}
`
	only := func(people string) string {
		head, _, _ := strings.Cut(office, "people:")
		return head + people
	}
	stranger := from("hermes", "uid:1001", "telegram", "99")
	for name, test := range map[string]struct {
		text  string
		asks  bailiff.Request
		terms bailiff.ApprovalTerms
		says  string
	}{
		"no people": {only(""), stranger, bailiff.ApprovalTerms{},
			"Nobody can answer: people in bailiff.yaml names nobody; name there who may, with a uid that is among operator.uids."},
		"only people who do not operate": {only("people: [{name: carl, uids: [2003]}, {name: eve}]"), stranger, bailiff.ApprovalTerms{},
			"Nobody can answer: carl has no uid among operator.uids, eve has no uid among operator.uids; name others in people who may, " +
				"with a uid that is among operator.uids."},
		"only the requester": {only("people: [{name: ana, uids: [1000], telegram: ['42']}]"), from("hermes", "uid:1001", "telegram", "42"),
			bailiff.ApprovalTerms{},
			"Nobody can answer: ana asked for it; name others in people who may, with a uid that is among operator.uids."},
		"an agent that reaches the socket": {office, from("open", "uid:1001", "telegram", "99"), bailiff.ApprovalTerms{},
			"Nobody can answer: " + reaches("open") + " (or set operator.allow_same_user where one person uses this machine)."},
		"fewer than the policies want": {office, stranger, bailiff.ApprovalTerms{Quorum: 4},
			"4 people must say yes, but only ana, ben and dora could: carl has no uid among operator.uids; name others in people who " +
				"may, with a uid that is among operator.uids."},
		"fewer than the route wants": {office + routes, from("hermes", "uid:1001", "telegram", "42"), because("secrets.read"),
			"2 people must say yes, but only ben could: ana asked for it, carl has no uid among operator.uids, dora is not among the " +
				"approvers of route secrets; name others in people who may, with a uid that is among operator.uids."},
		"more than there are": {only("people: [{name: ana, uids: [1000]}]"), stranger, bailiff.ApprovalTerms{Quorum: 2},
			"2 people must say yes, but only ana could: there is nobody else in people; name others in people who may, with a uid that " +
				"is among operator.uids."},
		"no route takes it": {office + routes, stranger, because("command.installs"),
			"Nobody can answer: no route takes this; let approvals.routes end with one that has no condition."},
		"a route's condition fails": {office + broken, stranger, because("command.installs"),
			"Nobody can answer: the condition of route odd could not be evaluated: index out of bounds: 3."},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := roster(t, test.text, "").Plan(claim(test.asks, test.terms))
			var unanswerable *approval.Unanswerable
			if !errors.As(err, &unanswerable) || err.Error() != test.says {
				t.Errorf("got  %+v, %v\nwant %s", plan, err, test.says)
			}
		})
	}
}

func TestWhoeverIsPlannedMayAnswer(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"", "allow_same_user: true"} {
		r := roster(t, office, settings)
		c := bailiff.Claim{Request: from("hermes", "uid:1001", "telegram", "42")}
		plan, err := r.Plan(c)
		must(t, err)
		for _, uid := range r.operator.UIDs {
			for _, channel := range plan.Channels {
				who := r.Identify(uid, channel)
				planned := false
				for _, name := range plan.Approvers {
					planned = planned || name == who.Person || name == who.Credential
				}
				if may := r.May(who, c, plan.Route) == nil; may != planned {
					t.Errorf("%+v is planned: %v, may answer: %v", who, planned, may)
				}
			}
		}
	}
}

func TestPeopleAreKnownByTheirUsers(t *testing.T) {
	t.Parallel()
	r := roster(t, office, "")
	want := bailiff.Approver{Person: "ben", Groups: []string{"security", "ops"}, Credential: "uid:1002", Channel: "console"}
	if got := r.Identify(1002, "console"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := r.Identify(1009, "operator"); !reflect.DeepEqual(got, nobodys()) {
		t.Errorf("got %+v", got)
	}
}

func TestAgentsThatReachTheOperatorsAreWarnedOf(t *testing.T) {
	t.Parallel()
	warned := strings.Join(roster(t, office, "").Warnings(), "\n")
	for _, listener := range []string{"open", "root", "shared"} {
		if !strings.Contains(warned, reaches(listener)) {
			t.Errorf("nothing is said of %s in:\n%s", listener, warned)
		}
	}
	if strings.Contains(warned, "hermes") || strings.Contains(warned, "far") {
		t.Errorf("too much is said:\n%s", warned)
	}
	if w := roster(t, office, "allow_same_user: true").Warnings(); len(w) > 0 {
		t.Errorf("where it is allowed: %q", w)
	}
}
