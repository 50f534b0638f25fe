package people

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
)

const staffed = `
operator: {listen: "unix:///run/o.sock", uids: [1000, 1002, 1003, 1004, 1005], allow_same_user: SAME}
agent: {listeners: [{name: hermes, listen: "unix:///run/a.sock", uids: [1001]}]}
people:
  - {name: ana, uids: [1000]}
  - {name: vic, uids: [1002], roles: [viewer]}
  - {name: pia, uids: [1003], roles: [approver]}
  - {name: ole, uids: [1004], roles: [operator]}
  - {name: ada, uids: [1005], roles: [admin]}
approvals:
  routes:
    - {name: grave, when: 'request.tool == "execute_code"', approvers: '"admin" in approver.roles'}
    - {name: rest}
`

func TestARoleLetsAPersonDoThatAndNoMore(t *testing.T) {
	t.Parallel()
	for _, same := range []string{"false", "true"} {
		c, err := config.Parse("/etc/bailiff.yaml", []byte(strings.Replace(staffed, "SAME", same, 1)), catalogue.All())
		must(t, err)
		r, err := New(c, noLogins{})
		must(t, err)
		req := from("hermes", "uid:1001", "discord", "7")
		for uid, want := range map[uint32]string{1000: "answer revoke operate govern", 1002: "", 1003: "answer revoke",
			1004: "revoke operate", 1005: "answer revoke operate govern"} {
			who := r.Identify(uid, bailiff.ChannelOperator)
			var may []string
			for _, to := range []string{bailiff.MayAnswer, bailiff.MayRevoke, bailiff.MayOperate, bailiff.MayGovern} {
				if r.Permit(who, to) == nil {
					may = append(may, to)
				}
			}
			if got := strings.Join(may, " "); got != want {
				t.Errorf("%s may %q, want %q", who.Person, got, want)
			}
			answers := r.May(who, claim(req, because("a")), "rest") == nil
			if answers != strings.Contains(want, bailiff.MayAnswer) {
				t.Errorf("%s may answer: %v", who.Person, answers)
			}
		}
		plan, err := r.Plan(claim(req, because("a")))
		if got := strings.Join(plan.Approvers, " "); err != nil || got != "ana pia ada" {
			t.Errorf("it is planned for %s, %v", got, err)
		}
		req.Tool = bailiff.ExecuteCode
		plan, err = r.Plan(claim(req, because("a")))
		if got := strings.Join(plan.Approvers, " "); err != nil || got != "ada" {
			t.Errorf("a route for admins is planned for %s, %v", got, err)
		}
		if err := r.Permit(r.Identify(1002, bailiff.ChannelOperator), bailiff.MayOperate); err == nil ||
			err.Error() != "not yours to do: vic has the role viewer, and this is for operator or admin" {
			t.Errorf("it says %v", err)
		}
	}
}

func TestALoginThatIsNoPersonsAnyMoreLetsDoNothing(t *testing.T) {
	t.Parallel()
	who := providedBy(t, noLogins{}).IdentifyLogin("b1", bailiff.LoginOIDC)
	for name, c := range map[string]struct{ change, says string }{
		"as it was":           {"name: ben -> name: ben", ""},
		"with another role":   {"name: ben, -> name: ben, roles: [viewer],", "ben has the role viewer"},
		"without the account": {"oidc: [b1], -> ", "oidc:b1 belongs to no person"},
		"of another person":   {"name: ben -> name: eve", "oidc:b1 is another person now"},
	} {
		err := providedBy(t, noLogins{}, c.change).Permit(who, bailiff.MayOperate)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: it says %v, want %q", name, err, c.says)
		}
	}
}
