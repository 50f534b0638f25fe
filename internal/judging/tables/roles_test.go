package tables

import (
	"slices"
	"strings"
	"testing"
)

// theOffice are people of a configuration.
var theOffice = People{
	Accounts: map[string][]string{"ana": {"telegram/42", "slack/U07A"}, "ben": {"telegram/43"}},
	Groups:   []string{"security", "guests"},
}

func TestEachFaultOfTheTableOfRolesIsOneSentence(t *testing.T) {
	t.Parallel()
	const twice = " has the role guest already: want one row for each, or a group where both are to hold"
	for text, want := range map[string]string{
		`roles: {guest: {people: [ben], backend: []}}`: `roles.guest.backend unknown key, nearest ` +
			`valid key is "backends"`,
		`roles: {guest: {people: [ben]}, member: {people: [ben]}}`:             "roles.member.people.0 ben" + twice,
		`roles: {guest: {users: [telegram/1]}, member: {users: [telegram/1]}}`: "roles.member.users.0 telegram/1" + twice,
		`roles: {guest: {users: ["42"]}}`: `roles.guest.users.0 is "42", want a platform and the id ` +
			"of a user of its, as in telegram/42",
		`roles: {guest: {chats: [telegrm/1]}}`: `roles.guest.chats.0 the chat is of an unknown platform, nearest valid platform is ` +
			`"telegram"`,
		`roles: {guest: {users: [cli/ana]}}`: "roles.guest.users.0 is what a client of the command line says of itself: want people, " +
			"who are known there by uids",
		`roles: {guest: {platforms: [slak]}}`: `roles.guest.platforms.0 is an unknown platform, nearest valid platform is "slack"`,
		`roles: {guest: {others: "yes"}}`:     `roles.guest.others is "yes", want true or false`,
		`roles: {guest: {people: [ben], groups: [guests], users: [telegram/1], env: [], scopes: [once]}}`: "",
		`roles: {guest: {groups: [a]}, member: {groups: [a]}}`:                                            "",
	} {
		all := numbered(t, of(t, []byte("platforms: {telegram: {}, slack: {}}\n"+text)))
		if got := sentences(Check(all, nil)); got != want {
			t.Errorf("%s\n%q, want\n%q", text, got, want)
		}
	}
}

func TestEachFaultOfTheTableOfBudgetsIsOneSentence(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		`{count: requests, most: 3, window: day}`:                                   "",
		`{count: run_seconds, most: 3, window: hour, per: chat, chats: [slack/C1]}`: "",
		`{most: 3, window: day}`:                                                    "budgets.b has no count, want what is counted",
		`{count: requests, window: day}`:                                            "budgets.b has no most, want how much may be used",
		`{count: request, most: 3, window: day}`:                                    `budgets.b.count "request": unknown word, nearest`,
		`{count: requests, most: -3, window: day}`:                                  "budgets.b.most is -3",
		`{count: requests, most: 3, window: week}`:                                  `budgets.b.window "week": unknown word, valid are`,
		`{count: requests, most: 3, window: day, per: role}`:                        `budgets.b.per "role": unknown word`,
		`{count: requests, most: 3, window: day, platforms: [slak]}`:                "budgets.b.platforms.0 is an unknown platform",
		`{count: requests, most: 3, window: day, roles: [gest]}`:                    "budgets.b.roles.0 is an unknown role, nearest",
		`{count: requests, most: 3, window: day, users: []}`:                        "budgets.b.users is empty, so that the budget",
		`{count: requests, most: 3, window: day, user: [x]}`:                        "budgets.b.user unknown key, nearest",
		`{count: questions, most: 3, window: day, verdict: ask}`:                    "budgets.b.verdict is ask, want deny",
		`{count: questions, most: 20000, window: day}`:                              "budgets.b.most is more than 10000 questions",
	} {
		all := numbered(t, of(t, []byte("platforms: {telegram: {}, slack: {}}\nroles: {guest: {others: true}}\nbudgets: {b: "+row+"}")))
		if got := sentences(Check(all, nil)); want == "" && got != "" || !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s\n%q, want\n%q", row, got, want)
		}
	}
}

func TestRolesNamePeopleWhoAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`roles: {guest: {people: [anna]}}`:  `roles.guest.people.0 people in bailiff.yaml names no person "anna", nearest is "ana"`,
		`roles: {guest: {groups: [guest]}}`: `roles.guest.groups.0 people in bailiff.yaml names no group "guest", nearest is "guests"`,
		`roles: {guest: {people: [ben]}, member: {users: [telegram/43]}}`: "roles.member.users.0 telegram/43 is ben's, who has the role " +
			"guest already: want one row for each",
		`roles: {guest: {people: [ben], users: [telegram/43, telegram/99], groups: [guests]}}`: "",
		`roles: {}`: "",
	} {
		if got := sentences(CheckRoles(of(t, []byte(text)), theOffice)); got != want {
			t.Errorf("%s\n%q, want\n%q", text, got, want)
		}
	}
	byProvider := People{Accounts: theOffice.Accounts}
	if faults := CheckRoles(of(t, []byte(`roles: {guest: {groups: [any]}}`)), byProvider); len(faults) != 0 {
		t.Errorf("a group of the provider is a fault: %v", faults)
	}
}

func sentences(faults []Fault) string {
	said := make([]string, len(faults))
	for i, f := range faults {
		said[i] = strings.Join(f.At, ".") + " " + f.Wrong
	}
	slices.Sort(said)
	return strings.Join(said, "\n")
}
