package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// rolesTable has a row for each role: who has it, and what it may. A person and an account are in one row at most; of groups the
// strictest row counts.
func rolesTable(all any, words map[string]bool, known technologies) shape {
	platforms := slices.Sorted(maps.Keys(object(all, "platforms")))
	row := heldTo(all, words, known, map[string]shape{
		"people": list(text), "groups": list(text), "users": list(account(platforms, "user")),
		"chats": list(account(platforms, "chat")), "others": truth,
		"platforms": list(oneOf("platform", platforms)),
	})
	rows := entriesOf(row)
	return func(value any, at keys, tell reporter) {
		rows(value, at, tell)
		inOneRow(object(value), at, tell)
	}
}

// account is a user or a chat as PLATFORM/ID.
func account(platforms []string, kind string) shape {
	want := "a platform and the id of a " + kind + " of its, as in telegram/42"
	return func(value any, at keys, tell reporter) {
		if describe(value, describeText("^[^/]+/.+$")) {
			return
		}
		said, ok := value.(string)
		name, id, _ := strings.Cut(said, "/")
		switch {
		case !ok:
			tell(at, wrongType(value, want))
		case id == "":
			tell(at, fmt.Sprintf("is %q, want %s", said, want))
		case name == "cli":
			tell(at, "is what a client of the command line says of itself: want people, who are known there by uids")
		case !slices.Contains(platforms, name):
			tell(at, "the "+kind+" is of an "+spelling.Unknown("platform", name, platforms))
		}
	}
}

// inOneRow tells of people and users of whom two rows speak, where it would hang on both what they may.
func inOneRow(rows map[string]any, at keys, tell reporter) {
	for _, kind := range []string{"people", "users"} {
		taken := map[string]string{}
		for _, role := range slices.Sorted(maps.Keys(rows)) {
			names, _ := object(rows[role])[kind].([]any)
			for n, name := range names {
				name, _ := name.(string)
				if other, twice := taken[name]; twice && other != role {
					tell(at.below(role).below(kind).below(fmt.Sprint(n)),
						fmt.Sprintf("%s has the role %s already: want one row for each, or a group where both are to hold", name, other))
				}
				taken[name] = role
			}
		}
	}
}

// People are those of the configuration: the accounts of each, as PLATFORM/ID.
type People struct {
	Accounts map[string][]string
	// Groups are those that there can be; nil means that others than the configuration's can be.
	Groups []string
}

// CheckRoles lists what is wrong in the table of roles by the people that there are: names of none of them, and people of whom two
// rows speak, one by the person and one by an account.
func CheckRoles(all any, known People) (faults []Fault) {
	rows := object(all, "roles")
	tell := func(wrong string, at ...string) {
		faults = append(faults, Fault{append([]string{"roles"}, at...), wrong})
	}
	names := slices.Sorted(maps.Keys(known.Accounts))
	roles, owners := map[string]string{}, map[string]string{}
	each := func(kind string, told func(role, name string, at string)) {
		for _, role := range slices.Sorted(maps.Keys(rows)) {
			list, _ := object(rows[role])[kind].([]any)
			for n, name := range list {
				told(role, fmt.Sprint(name), fmt.Sprint(n))
			}
		}
	}
	each("people", func(role, name, at string) {
		roles[name] = role
		if _, is := known.Accounts[name]; !is {
			tell(stranger(name, "person", names), role, "people", at)
		}
	})
	for name, accounts := range known.Accounts {
		for _, account := range accounts {
			owners[account] = name
		}
	}
	each("users", func(role, account, at string) {
		owner := owners[account]
		if other := roles[owner]; owner != "" && other != "" && other != role {
			tell(fmt.Sprintf("%s is %s's, who has the role %s already: want one row for each", account, owner, other), role, "users", at)
		}
	})
	each("groups", func(role, group, at string) {
		if known.Groups != nil && !slices.Contains(known.Groups, group) {
			tell(stranger(group, "group", known.Groups), role, "groups", at)
		}
	})
	return faults
}

// stranger says that people in bailiff.yaml do not know a name, and which is meant.
func stranger(name, kind string, known []string) string {
	said := fmt.Sprintf("people in bailiff.yaml names no %s %q", kind, name)
	if meant := spelling.Nearest(name, known, len(name)/2+1); meant != "" {
		return said + fmt.Sprintf(", nearest is %q", meant)
	}
	return said
}
