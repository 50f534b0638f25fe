package people

import (
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// allowed are the roles that let a person do something, beside admin.
var allowed = map[string][]string{
	bailiff.MayAnswer:  {config.RoleApprover},
	bailiff.MayRevoke:  {config.RoleApprover, config.RoleOperator},
	bailiff.MayOperate: {config.RoleOperator},
	bailiff.MayGovern:  {},
}

// Permit is nil if the roles of who let them do something. People without roles may do all that people may,
// and so may an operator's user without a person. A login lasts longer than what it was given for: it lets
// do nothing once its account is no person's, or another's.
func (r *Roster) Permit(who bailiff.Approver, to string) error {
	p, why := r.current(who)
	if why == "" {
		why = lacks(who, p, to)
	}
	if why != "" {
		return fmt.Errorf("not yours to do: %s", why)
	}
	return nil
}

// CheckLogin says why a person may not be logged in, to look on in any role; it is nil while they may.
func (r *Roster) CheckLogin(who bailiff.Approver) error {
	if _, why := r.current(who); why != "" {
		return fmt.Errorf("not yours to see: %s", why)
	}
	return nil
}

// current is the holder of a credential, if that is who came by it.
func (r *Roster) current(who bailiff.Approver) (*config.Person, string) {
	p, why := r.holder(who)
	if why == "" {
		why = replaced(who, p)
	}
	return p, why
}

// lacks says which role a person lacks for something; empty if none.
func lacks(who bailiff.Approver, p *config.Person, to string) string {
	sufficient := slices.Concat(allowed[to], []string{config.RoleAdmin})
	if len(p.Roles) == 0 || slices.ContainsFunc(sufficient, func(role string) bool { return slices.Contains(p.Roles, role) }) {
		return ""
	}
	return fmt.Sprintf("%s has the role %s, and this is for %s", who.Name(), joined(p.Roles, "and"),
		joined(sufficient, "or"))
}
