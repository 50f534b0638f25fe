package people

import (
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func TestWhoAsks(t *testing.T) {
	t.Parallel()
	r := roster(t, office, "")
	ana, ben := bailiff.Requester{Person: "ana", Groups: []string{"security"}},
		bailiff.Requester{Person: "ben", Groups: []string{"ops", "security"}}
	nobody := bailiff.Requester{}
	for name, test := range map[string]struct {
		asks bailiff.Request
		want bailiff.Requester
	}{
		"who has the account":               {from("hermes", "uid:1001", "telegram", "43"), ben},
		"by another account of theirs":      {from("hermes", "uid:1001", "slack", "U07A"), ana},
		"not by the id elsewhere":           {from("hermes", "uid:1001", "slack", "43"), nobody},
		"not as the agent's own user":       {from("hermes", "uid:1000", "telegram", "99"), nobody},
		"by a terminal whose user it is":    {from("terminals", "uid:2000", "cli", "43"), ana},
		"not whom a terminal claims to be":  {from("terminals", "uid:1009", "cli", "42"), nobody},
		"not by a connection without users": {from("far", bailiff.RemoteTCP, "cli", "42"), nobody},
	} {
		if got := r.Requester(test.asks); got.Person != test.want.Person || len(got.Groups)+len(test.want.Groups) > 0 &&
			!reflect.DeepEqual(got.Groups, test.want.Groups) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// loggedInBefore is a provider that named groups of an account.
type loggedInBefore map[string][]string

func (l loggedInBefore) Groups(account string) []string { return l[account] }

func TestGroupsOfTheProviderAreTheRequesters(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("/etc/bailiff.yaml", []byte(`people: [{name: ana, groups: [security], oidc: ["17"], telegram: ["42"]}]`),
		catalogue.All())
	must(t, err)
	r, err := New(c, loggedInBefore{"17": {"staff", "security"}})
	must(t, err)
	if got := r.Requester(from("hermes", "uid:1001", "telegram", "42")).Groups; !reflect.DeepEqual(got, []string{"security", "staff"}) {
		t.Errorf("the groups are %v", got)
	}
}
