package people

import (
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// Requester is who asks: by the command line the person whose user the caller is, by any other platform the one who has the account
// there, as the agent says it. It is the zero value where no person is known.
func (r *Roster) Requester(req bailiff.Request) (who bailiff.Requester) {
	p := r.asking(req)
	if p == nil {
		return who
	}
	who.Person, who.Groups = p.Name, slices.Clone(p.Groups)
	for _, account := range p.OIDC {
		for _, name := range r.logins.Groups(account) {
			who.Groups = add(who.Groups, name)
		}
	}
	slices.Sort(who.Groups)
	return who
}

// commandLine is the platform whose users are those of the machine.
const commandLine = "cli"

// asking is the person who asks; nil if none is known.
func (r *Roster) asking(req bailiff.Request) *config.Person {
	if req.Session.Platform != commandLine {
		return r.byAccount(req.Session.Platform, req.Session.UserID)
	}
	if uid, ok := bailiff.UID(req.Peer); ok {
		return r.byUID(uid)
	}
	return nil
}
