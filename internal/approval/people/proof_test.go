package people

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestARouteThatWantsAKeyTakesAnswersWithOneOnly(t *testing.T) {
	t.Parallel()
	r := providedBy(t, groupsOf{})
	req := from("hermes", "uid:1001", "discord", "7")
	req.Session.ChatID = "grave"
	asked := claim(req, because("a"))
	plan, err := r.Plan(asked)
	if err != nil || !slices.Equal(plan.Channels, []string{"console"}) || !slices.Equal(plan.Approvers, []string{"ana", "ben"}) ||
		plan.Proof != bailiff.ProofWebAuthn {
		t.Fatalf("planned for %+v, %v", plan, err)
	}
	by := func(who bailiff.Approver, proof string) bailiff.Approver {
		who.Proof = proof
		return who
	}
	link := r.Identify(1000, "console")
	for name, c := range map[string]struct {
		who    bailiff.Approver
		says   string // empty if it counts
		wanted bool   // all that it lacks is the proof
	}{
		"by a login of the provider, with a key": {by(r.IdentifyLogin("b1", "oidc"), "webauthn:1f2e"), "", false},
		"by a link, with a key":                  {by(link, "webauthn:1f2e"), "", false},
		"without a key":                          {link, "confirmed with a security key", true},
		"by another proof":                       {by(link, "smoke"), "confirmed with a security key", false},
		"on the operators' socket":               {r.Identify(1000, "operator"), "by console only, with a security key", false},
		"on a command line":                      {r.IdentifyLogin("b1", "device"), "only a browser at the console can ask for", false},
		"on a command line, with a proof":        {by(r.IdentifyLogin("b1", "device"), "webauthn:1f2e"), "only a browser", false},
		"an account of no person":                {by(r.IdentifyLogin("x", "oidc"), "webauthn:1f2e"), "belongs to no person", false},
		"a person who is another now": {bailiff.Approver{Person: "ben", Credential: "uid:1000", Channel: "console", Proof: "webauthn:1f2e"},
			"another person now", false},
	} {
		err := r.May(c.who, asked, "grave")
		says := err != nil && strings.Contains(err.Error(), c.says)
		if says != (c.says != "") || (err == nil) != (c.says == "") || errors.Is(err, api.ErrProof) != c.wanted {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestAKeyIsThatOfAPersonWhereOnePersonUsesTheMachineToo(t *testing.T) {
	t.Parallel()
	r := providedBy(t, groupsOf{}, "  uids: [1000]\n ->   uids: [1000, 1009]\n  allow_same_user: true\n")
	req := from("hermes", "uid:1001", "discord", "7")
	req.Session.ChatID = "grave"
	who := r.Identify(1009, "console")
	who.Proof = "webauthn:1f2e"
	if err := r.May(who, claim(req, because("a")), "grave"); err == nil || !strings.Contains(err.Error(), "belongs to no person") {
		t.Errorf("a user who is no person: %v", err)
	}
}
