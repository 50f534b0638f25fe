package people

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// guild is an office whose people are asked at Slack too. The sidecar is root in tests of
// this package that say so, and so is its agent's user where the listener is "same".
const guild = `
operator: {listen: "unix:///run/o.sock", uids: [1000], allow_same_user: false}
agent:
  listeners:
    - {name: hermes, listen: "unix:///run/a.sock", uids: [1001]}
    - {name: operators, listen: "unix:///run/b.sock", uids: [1000]}
    - {name: same, listen: "unix:///run/c.sock", uids: [4000]}
    - {name: root, listen: "unix:///run/d.sock", uids: [0]}
    - {name: open, listen: "unix:///run/e.sock"}
people:
  - {name: ana, uids: [1000], slack: [UANA], groups: [security]}
  - {name: ben, slack: [UBEN]}
  - {name: carl, telegram: ["3"]}
slack: {bot_token: {env: T}, app_token: {env: A}, approvals: C1, allowed_users: [UANA]}
telegram: {token: {env: T}, allowed_users: ["3"]}
approvals:
  routes:
    - {name: secrets, when: 'request.tool == "execute_code"', approvers: '"security" in approver.groups && approver.channel == "slack"'}
    - {name: socket, when: 'request.tool == "process"', channels: [operator]}
    - {name: rest}
`

func guildhall(t *testing.T, change ...string) *Roster {
	t.Helper()
	text := guild
	for _, c := range change {
		old, by, _ := strings.Cut(c, " -> ")
		text = strings.Replace(text, old, by, 1)
	}
	c, err := config.Parse("/etc/bailiff.yaml", []byte(text), catalogue.All())
	must(t, err)
	r, err := New(c, noLogins{})
	must(t, err)
	r.self = 4000
	return r
}

func TestWhoAnswersInAChatIsWhoseAccountItIs(t *testing.T) {
	t.Parallel()
	const (
		yes     = ""
		unknown = "belongs to no person in people"
	)
	for name, c := range map[string]struct {
		account string
		req     bailiff.Request
		want    string
	}{
		"somebody with an account":                 {"UBEN", from("hermes", "uid:1001", "discord", "7"), yes},
		"somebody with an account and a uid":       {"UANA", from("hermes", "uid:1001", "discord", "7"), yes},
		"a stranger":                               {"UZED", from("hermes", "uid:1001", "discord", "7"), unknown},
		"no id at all":                             {"", from("hermes", "uid:1001", "discord", "7"), unknown},
		"a person's account at another service":    {"3", from("hermes", "uid:1001", "discord", "7"), unknown},
		"who asked, by the same account":           {"UBEN", from("hermes", "uid:1001", "slack", "UBEN"), "ben asked for it"},
		"who asked, as the agent's user":           {"UANA", from("operators", "uid:1000", "cli", ""), "ana asked for it"},
		"another, of an agent that is an operator": {"UBEN", from("operators", "uid:1000", "cli", ""), yes},
		"of an agent that is the sidecar's user": {"UBEN", from("same", "uid:4000", "discord", "7"),
			"could read the sidecar's own secrets"},
		"of an agent that is root": {"UBEN", from("root", "uid:0", "discord", "7"),
			"could read the sidecar's own secrets"},
		"of an agent that may be anybody": {"UBEN", from("open", "uid:1001", "discord", "7"),
			"could read the sidecar's own secrets"},
		"who gave the command in the chat":  {"UANA", from("slack", "slack:UANA", "slack", "UANA"), "ana asked for it"},
		"another, of a command in the chat": {"UBEN", from("slack", "slack:UANA", "slack", "UANA"), yes},
		"of a command at a service that is not open": {"UBEN", from("matrix", "matrix:@x", "matrix", "@x"),
			"could read the sidecar's own secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			r := guildhall(t)
			err := r.May(r.IdentifyAccount("slack", c.account), claim(c.req, because("a")), "rest")
			if c.want == yes && err != nil || c.want != yes && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("it says %v, want %q", err, c.want)
			}
		})
	}
}

func TestInAChatOnlyPeopleAnswerEvenOnAMachineWithOnePerson(t *testing.T) {
	t.Parallel()
	r := guildhall(t, "allow_same_user: false -> allow_same_user: true")
	req := claim(from("same", "uid:4000", "slack", "UBEN"), because("a"))
	if err := r.May(r.IdentifyAccount("slack", "UBEN"), req, "rest"); err != nil {
		t.Errorf("ben may not: %v", err)
	}
	if err := r.May(r.IdentifyAccount("slack", "UZED"), req, "rest"); err == nil || !strings.Contains(err.Error(), "ask ana or ben") {
		t.Errorf("a stranger is told %v", err)
	}
}

func TestACredentialCountsAtItsOwnListenerOnly(t *testing.T) {
	t.Parallel()
	r := guildhall(t)
	c := claim(from("hermes", "uid:1001", "discord", "7"), because("a"))
	for _, forged := range []bailiff.Approver{
		{Person: "ben", Credential: "slack:UBEN", Channel: "operator"},
		{Person: "ana", Credential: "uid:1000", Channel: "slack"},
		{Person: "carl", Credential: "telegram:3", Channel: "slack"},
		{Person: "ben", Credential: "UBEN", Channel: "slack"},
	} {
		if err := r.May(forged, c, "rest"); err == nil {
			t.Errorf("%+v may answer", forged)
		}
	}
}

func TestAPlanAsksAtTheServicesAtWhichSomebodyCouldAnswer(t *testing.T) {
	t.Parallel()
	r := guildhall(t)
	for tool, want := range map[bailiff.Tool]string{bailiff.Terminal: "ana ben at operator slack", bailiff.ExecuteCode: "ana at slack",
		bailiff.Process: "ana at operator"} {
		req := from("hermes", "uid:1001", "discord", "7")
		req.Tool = tool
		p, err := r.Plan(claim(req, because("a")))
		if got := strings.Join(p.Approvers, " ") + " at " + strings.Join(p.Channels, " "); err != nil || got != want {
			t.Errorf("of %s it is %s, %v; want %s", tool, got, err, want)
		}
	}
}
