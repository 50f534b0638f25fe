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
		"people": list(text), "groups": list(text), "users": list(account(platforms)), "others": truth,
		"platforms": list(platform(platforms)),
	})
	rows := entriesOf(row)
	return func(value any, at keys, tell reporter) {
		rows(value, at, tell)
		inOneRow(object(value), at, tell)
	}
}

// account is a user as PLATFORM/ID.
func account(platforms []string) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, describeText("^[^/]+/.+$")) {
			return
		}
		said, ok := value.(string)
		name, id, _ := strings.Cut(said, "/")
		switch {
		case !ok:
			tell(at, wrongType(value, "a platform and the id of a user of its, as in telegram/42"))
		case id == "":
			tell(at, fmt.Sprintf("is %q, want a platform and the id of a user of its, as in telegram/42", said))
		case !slices.Contains(platforms, name):
			tell(at, "the user is of an "+spelling.Unknown("platform", name, platforms))
		}
	}
}

func platform(platforms []string) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, describeText("")) {
			return
		}
		if name, ok := value.(string); !ok || !slices.Contains(platforms, name) {
			tell(at, "is an "+spelling.Unknown("platform", fmt.Sprint(value), platforms))
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
