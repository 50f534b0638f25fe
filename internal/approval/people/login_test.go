package people

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// provided is an office in which people log in by a provider. The sidecar is user 4000, and so is the agent
// of listener "same"; that of "operators" is ana's user.
const provided = `
operator:
  listen: unix:///run/o.sock
  uids: [1000]
  console: localhost:8642
  oidc: {issuer: "https://id.example.com", client_id: bailiff}
agent:
  listeners:
    - {name: hermes, listen: "unix:///run/a.sock", uids: [1001]}
    - {name: operators, listen: "unix:///run/b.sock", uids: [1000]}
    - {name: same, listen: "unix:///run/c.sock", uids: [4000]}
people:
  - {name: ana, uids: [1000], oidc: [a1]}
  - {name: ben, oidc: [b1], telegram: ["42"]}
approvals:
  routes:
    - {name: secrets, when: 'request.tool == "execute_code"', approvers: '"security" in approver.groups'}
    - {name: socket, when: 'request.tool == "process"', channels: [operator]}
    - {name: grave, when: 'request.session.chat_id == "grave"', proof: webauthn}
    - {name: rest}
`

// groupsOf are what a provider said.
type groupsOf map[string][]string

func (g groupsOf) Groups(account string) []string { return g[account] }

func providedBy(t *testing.T, logins Logins, change ...string) *Roster {
	t.Helper()
	text := provided
	for _, c := range change {
		old, by, _ := strings.Cut(c, " -> ")
		text = strings.Replace(text, old, by, 1)
	}
	c, err := config.Parse("/etc/bailiff.yaml", []byte(text), catalogue.All())
	must(t, err)
	r, err := New(c, logins)
	must(t, err)
	r.self = 4000
	return r
}

func TestALoginByTheProviderIsItsPersonsAlone(t *testing.T) {
	t.Parallel()
	r := providedBy(t, groupsOf{"b1": {"security"}})
	code := from("hermes", "uid:1001", "discord", "7")
	code.Tool = bailiff.ExecuteCode
	process := from("hermes", "uid:1001", "discord", "7")
	process.Tool = bailiff.Process
	for name, c := range map[string]struct {
		who   bailiff.Approver
		req   bailiff.Request
		route string
		says  string // empty if they may
	}{
		"ben": {r.IdentifyLogin("b1", "oidc"), from("hermes", "uid:1001", "discord", "7"), "rest", ""},
		"ben, who asked in a chat": {r.IdentifyLogin("b1", "oidc"), from("hermes", "uid:1001", "telegram", "42"), "rest",
			"ben asked for it"},
		"an account of no person": {r.IdentifyLogin("x", "oidc"), from("hermes", "uid:1001", "discord", "7"), "rest",
			"belongs to no person"},
		"ben, of an agent with ana's user": {r.IdentifyLogin("b1", "oidc"), from("operators", "uid:1000", "discord", "7"), "rest",
			""},
		"ben on a command line, of an agent with ana's user": {r.IdentifyLogin("b1", "device"),
			from("operators", "uid:1000", "discord", "7"), "rest", "could reach the operators' socket itself"},
		"ben, of an agent with the sidecar's user": {r.IdentifyLogin("b1", "oidc"), from("same", "uid:4000", "discord", "7"), "rest",
			"could read the sidecar's own secrets"},
		"ben, whom the provider has in the group": {r.IdentifyLogin("b1", "oidc"), code, "secrets", ""},
		"ana, whom it has not":                    {r.IdentifyLogin("a1", "oidc"), code, "secrets", "not among the approvers"},
		"where only the socket will do":           {r.IdentifyLogin("b1", "oidc"), process, "socket", "by operator only"},
		"an account at another channel": {bailiff.Approver{Person: "ben", Credential: "oidc:b1", Channel: "operator"},
			from("hermes", "uid:1001", "discord", "7"), "rest", "belongs to no person"},
		"an account that is another's": {bailiff.Approver{Person: "ana", Credential: "oidc:b1", Channel: "console", Login: "oidc"},
			from("hermes", "uid:1001", "discord", "7"), "rest", "another person now"},
	} {
		err := r.May(c.who, claim(c.req, because("a")), c.route)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	plan, err := r.Plan(claim(code, because("a")))
	if err != nil || strings.Join(plan.Approvers, " ") != "ben" {
		t.Errorf("what needs the group is planned for %v, %v", plan.Approvers, err)
	}
	if _, err := providedBy(t, groupsOf{}).Plan(claim(code, because("a"))); err == nil {
		t.Error("a question waits for groups that the provider never named")
	}
}

func TestALoginByTheProviderMayLiftWhereNoAgentCouldPassForIt(t *testing.T) {
	t.Parallel()
	const (
		noSame = "    - {name: same, listen: \"unix:///run/c.sock\", uids: [4000]}\n -> "
		noOIDC = "  oidc: {issuer: \"https://id.example.com\", client_id: bailiff}\n -> "
	)
	hermesOnly := "    - {name: operators, listen: \"unix:///run/b.sock\", uids: [1000]}\n" + noSame
	for name, c := range map[string]struct {
		change []string
		login  string
		may    bool
	}{
		"in a browser":                                   {[]string{hermesOnly}, "oidc", true},
		"on a command line":                              {[]string{hermesOnly}, "device", true},
		"where an agent could read the secrets":          {nil, "oidc", false},
		"on a command line, with an agent of ana's user": {[]string{noSame}, "device", false},
		"in a browser all the same":                      {[]string{noSame}, "oidc", true},
		"where people log in by a provider no more":      {[]string{hermesOnly, noOIDC}, "oidc", false},
	} {
		r := providedBy(t, groupsOf{}, c.change...)
		if err := r.MayLift(r.IdentifyLogin("b1", c.login)); (err == nil) != c.may {
			t.Errorf("%s: %v", name, err)
		}
		if c.may && r.Unliftable() != "" {
			t.Errorf("%s: it may, and yet %s", name, r.Unliftable())
		}
	}
}
