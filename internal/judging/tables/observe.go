package tables

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// MostObservedDays is how far away the end of a row of the table observe may be.
const MostObservedDays = 30

// UnobservedFamilies are the first words of bailiff's own rules that no row observes, Unobserved rules of other families. The rules of
// the policies hold both, too: here is why check refuses a row that would observe nothing.
var (
	UnobservedFamilies = []string{"advise", "agent", "approval", "approvals", "backend", "break_glass", "budget", "connection",
		"egress", "env",
		"floor", "freeze", "guard", "guards", "limits", "log", "mcp", "network", "policy", "request", "role", "session", "tool"}
	Unobserved = []string{"code.calls_native", "code.hides_meaning", "command.changes_accounts", "command.changes_firewall",
		"command.changes_namespaces", "command.changes_own_settings", "command.destroys_system", "command.disables_protection",
		"command.erases_traces", "command.escapes_to_shell", "command.grants_access", "command.hides_meaning", "command.mounts",
		"command.opens_reverse_shell", "command.opens_to_network", "command.preloads_library", "command.reaches_metadata",
		"command.reads_credentials", "command.reads_memory", "command.redirects_connections", "command.runs_decoded",
		"command.runs_downloaded", "command.runs_inline_program", "command.sends_environment", "command.sends_files",
		"command.sends_host_facts", "command.starts_agent", "command.stops_services", "command.uses_container_engine",
		"command.writes_credentials", "command.writes_ssh", "command.writes_startup"}
)

// observe is a row for each rule that is only observed, with the day until which it is.
func observe(all any, words map[string]bool, today time.Time) shape {
	rows := ruleTo(fields(map[string]shape{"until": until(today)}), all, words)
	return func(value any, at keys, tell reporter) {
		rows(value, at, tell)
		for name, row := range object(value) {
			family, _, _ := strings.Cut(name, ".")
			switch fields, is := row.(map[string]any); {
			case slices.Contains(UnobservedFamilies, family):
				tell(at.below(name), "rules of "+family+" are never observed, but only those about what a text does, and your own")
			case slices.Contains(Unobserved, name):
				tell(at.below(name), "this rule is never observed: what it finds may have credentials leave, destroy the system, switch "+
					"off what protects it, or hide what runs")
			case is && fields["until"] == nil:
				tell(at.below(name), "has no until, want the last day on which the rule is observed, such as \"2026-12-24\"")
			}
		}
	}
}

// until is a day that is not too far away. One that is over is no fault: its row observes nothing.
func until(today time.Time) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, func(s *jsonschema.Schema) { describeText(`^\d{4}-\d\d-\d\d$`)(s) }) {
			return
		}
		said, _ := value.(string)
		day, err := time.Parse(time.DateOnly, said)
		if err != nil {
			tell(at, wrongType(value, "a day in quotes, such as \"2026-12-24\""))
			return
		}
		if last := today.UTC().Truncate(24*time.Hour).AddDate(0, 0, MostObservedDays); day.After(last) {
			tell(at, fmt.Sprintf("is more than %d days from now, want %s at the latest", MostObservedDays, last.Format(time.DateOnly)))
		}
	}
}
