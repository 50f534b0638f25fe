package app

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// The users of a company: its agent, its people, and somebody who is no person of
// the configuration although the operators' socket lets them in.
const (
	agentUID = 65534
	anaUID   = 61001
	benUID   = 61002
	doraUID  = 61003
	zoeUID   = 61009
)

// company is an office with people of their own users.
type company struct {
	*office
	people map[string]*client.Client
}

// startCompany starts one; nobody, ana, ben and dora have users of their own.
func startCompany(t *testing.T, agents string, sections ...string) *company {
	t.Helper()
	needsRoot(t)
	_, house := withHouse(t, houseAsksAboutRemovals)
	text := fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", platforms: ["*"], uids: %[2]s}]}
operator: {listen: "unix://%[1]s/o.sock", uids: [61001, 61002, 61003, 61009]}
people:
  - {name: ana, uids: [61001], telegram: ["42"]}
  - {name: ben, uids: [61002], groups: [security]}
  - {name: dora, uids: [61003]}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[3]s}
backends: {bubblewrap: {}}
%[4]s
`, openDir(t), agents, backendtest.Runner(t), house) + strings.Join(sections, "\n")
	s, err := tryServe(t, openDir(t), text)
	must(t, err)
	agent, operator := s.cfg.Agent.Listeners[0].Listen, s.cfg.Operator.Listen
	for _, socket := range []string{agent.Address, operator.Address} { // their owner is one user only, and uids hold for all
		must(t, os.Chmod(socket, 0o666))
	}
	c := &company{office: &office{running: s, agent: asUser(t, agentUID, agent.String())}, people: map[string]*client.Client{}}
	for name, uid := range map[string]int{"ana": anaUID, "ben": benUID, "dora": doraUID, "zoe": zoeUID} {
		c.people[name] = asUser(t, uid, operator.String())
	}
	c.operator = c.people["dora"]
	return c
}

// ofAna is what ana asks for in a chat.
func ofAna(session string) bailiff.Request { return waiting(inChat(session, "rm -r build; echo ran")) }

func TestWhereTheAgentCouldAnswerItselfNothingIsAsked(t *testing.T) {
	for name, agents := range map[string]string{
		"its user is among the operators": "[65534, 61001]",
		"any user may be the agent":       "[]",
	} {
		t.Run(name, func(t *testing.T) {
			c := startCompany(t, agents)
			a := ask(t, c.agent, ofAna("s1"))
			wants(t, a, bailiff.Expired, "the agent of listener test could reach the operators' socket itself")
			if a.Output != "" {
				t.Errorf("it ran and wrote %q", a.Output)
			}
			if text := get(t, c.running, "/metrics"); !strings.Contains(text,
				`bailiff_approvals_total{platform="telegram",resolution="unanswerable",scope="none"} 1`) {
				t.Error("no metric counts it as unanswerable")
			}
			wantState(t, c.office, a.Approval.ID, bailiff.ApprovalExpired)
		})
	}
}

// answerOf is what somebody says, and what becomes of it.
type answerOf struct {
	who  string
	yes  bool
	code string // why it is not taken; empty if it is
	says string
}

func TestWhoMayAnswerDoesAndNobodyElse(t *testing.T) {
	t.Parallel()
	const (
		route  = `approvals: {routes: [{name: secure, approvers: '"security" in approver.groups'}]}`
		quorum = `approvals: {routes: [{name: two, quorum: 2}]}`
	)
	yes := func(who string) answerOf { return answerOf{who, true, "", ""} }
	no := func(who string) answerOf { return answerOf{who, false, "", ""} }
	notTaken := func(who, code, says string) answerOf { return answerOf{who, true, code, says} }
	for name, test := range map[string]struct {
		settings string
		asks     bailiff.Request
		answers  []answerOf
		ends     bailiff.Status
	}{
		"who asked may not but somebody else may": {"", ofAna("s1"), []answerOf{
			notTaken("ana", "not_eligible", "ana asked for it; ask ben or dora"), yes("dora")}, bailiff.Completed},
		"nor may who asked say no": {"", ofAna("s1"), []answerOf{
			{"ana", false, "not_eligible", "ana asked for it"}, yes("ben")}, bailiff.Completed},
		"an operator who is nobody may not": {"", ofAna("s1"), []answerOf{
			notTaken("zoe", "not_eligible", "uid:61009 belongs to no person in people; ask ben or dora"), no("ben")}, bailiff.Refused},
		"a route names who may": {route, ofAna("s1"), []answerOf{
			notTaken("dora", "not_eligible", "dora is not among the approvers of route secure; ask ben"), yes("ben")}, bailiff.Completed},
		"a quorum is different people": {quorum, ofAna("s1"), []answerOf{
			yes("ben"), notTaken("ben", "already_voted", "Ben has answered"), yes("dora")}, bailiff.Completed},
		"who asked is not of the quorum": {quorum, ofAna("s1"), []answerOf{
			yes("ben"), notTaken("ana", "not_eligible", "ana asked for it"), yes("dora")}, bailiff.Completed},
		"one no ends it": {quorum, ofAna("s1"), []answerOf{
			yes("ben"), no("dora"), notTaken("ben", "already_settled", "denied by dora")}, bailiff.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCompany(t, "[65534]", test.settings)
			e := send(t.Context(), c.agent, test.asks)
			id := e.question(t)
			for _, a := range test.answers {
				c.answer(t, id, a)
			}
			a := e.end(t)
			if ran := a.Output != ""; a.Status != test.ends || ran != (test.ends == bailiff.Completed) {
				t.Errorf("the answer is %s: %s %s", a.Status, a.Message, a.Output)
			}
		})
	}
}

func (c *company) answer(t *testing.T, id string, a answerOf) {
	t.Helper()
	var err error
	if a.yes {
		_, err = c.people[a.who].Approve(t.Context(), id, "")
	} else {
		_, err = c.people[a.who].Deny(t.Context(), id, "")
	}
	if a.code != "" {
		wantProblem(t, err, a.code, a.says)
	} else if err != nil {
		t.Errorf("%s could not answer: %v", a.who, err)
	}
}

func TestTheAgentsUserIsKeptFromTheOperatorsSocket(t *testing.T) {
	t.Parallel()
	c := startCompany(t, "[65534]")
	e := send(t.Context(), c.agent, ofAna("s1"))
	id := e.question(t)
	agent := asUser(t, agentUID, c.cfg.Operator.Listen.String())
	_, err := agent.Approve(t.Context(), id, "")
	wantProblem(t, err, "peer_not_allowed", "65534")
	wantState(t, c.office, id, bailiff.ApprovalPending)
	if _, err := c.people["ben"].Deny(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	wants(t, e.end(t), bailiff.Refused, "")
}
