package requesters

import (
	"maps"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// accounts are who has an account, by the user's id.
type accounts map[string]string

func (a accounts) Requester(req bailiff.Request) bailiff.Requester {
	return bailiff.Requester{Person: a[req.Session.UserID]}
}

// own are values by person and name.
type own map[string]map[string]string

func (o own) Available(person string, names []string) (held []string) {
	for _, name := range names {
		if _, ok := o[person][name]; ok {
			held = append(held, name)
		}
	}
	return held
}

func (o own) Value(person, name string) (bailiff.Secret, bool) {
	value, ok := o[person][name]
	return bailiff.NewSecret(value), ok
}

func (o own) Values(name string) (all []bailiff.Secret) {
	for _, person := range slices.Sorted(maps.Keys(o)) {
		if value, ok := o[person][name]; ok {
			all = append(all, bailiff.NewSecret(value))
		}
	}
	return all
}

var office = People{Roster: accounts{"42": "ana", "43": "ben", "44": "carl"},
	Own: own{"ana": {"TOKEN": "of-ana"}, "ben": {"TOKEN": "of-ben"}, "": {"TOKEN": "of-nobody"}}}

func by(user string) bailiff.Request {
	return bailiff.Request{Env: []string{"TOKEN"}, Session: bailiff.Session{UserID: user}}
}

func TestAValueIsTheRequestersOrThereIsNone(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{"42": "of-ana", "43": "of-ben", "44": "", "99": "", "": ""} {
		value, ok := office.Value(by(user), "TOKEN")
		if ok != (want != "") || ok && value.Reveal() != want {
			t.Errorf("user %q has %q, %t", user, value.Reveal(), ok)
		}
		if got := office.Of(by(user)).Own; (len(got) == 1) != (want != "") {
			t.Errorf("user %q is told of %v", user, got)
		}
	}
	if _, ok := (People{}).Value(by("42"), "TOKEN"); ok || (People{}).Of(by("42")).Person != "" {
		t.Error("somebody is known where nobody is")
	}
}

func TestValuesOfAllPeopleAreHiddenOnce(t *testing.T) {
	t.Parallel()
	secrets := map[string]bailiff.Secret{"TOKEN": bailiff.NewSecret("of-ana")}
	office.Hide([]string{"TOKEN"}, secrets)
	var held []string
	for _, value := range secrets {
		held = append(held, value.Reveal())
	}
	if slices.Sort(held); !slices.Equal(held, []string{"of-ana", "of-ben", "of-nobody"}) {
		t.Errorf("hidden are %v", held)
	}
}
