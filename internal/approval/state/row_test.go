package state

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

// The names are those of the store's version 1, and swap, match and revision, which grants of earlier
// releases lack, login, which their votes lack, proof, which plans, votes
// and grants lack, agent and covers_agents, which grants lack, for_ns and times, which votes and grants
// lack, opinions and held_until, which their entries lack.
// A further field that the API gains belongs into the last column, and is never stored.
func TestTheStoreHoldsWhatItsVersionNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row         any
		held, shown string
	}{
		{Entry{}, "id state digest decision_id trace_id caller peer request decision reasons shortened plan scopes votes opinions scope " +
			"grant_id grant_expires message created expires resolved held_until", "files input answered pattern"},
		{api.Plan{}, "route approvers channels quorum timeout_ns proof", ""},
		{api.Vote{}, "person credential channel login proof approve scope for_ns times reason at", ""},
		{Grant{}, "id approval_id scope caller peer platform session agent covers_agents user tool backend env swap route quorum proof " +
			"digest pairs match revision by via created expires uses times last_used", ""},
		{Freeze{}, "kind id reason by at", "warning may_go_on"},
	} {
		var held, shown []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.row)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if strings.Contains(" "+c.shown+" ", " "+name+" ") {
				shown = append(shown, name)
			} else {
				held = append(held, name)
			}
		}
		if strings.Join(held, " ") != c.held || strings.Join(shown, " ") != c.shown {
			t.Errorf("a %T holds %q and shows %q besides, want %q and %q", c.row, held, shown, c.held, c.shown)
		}
	}
}
