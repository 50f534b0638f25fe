package setup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	judged "github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// observed is the table of rules that are only observed.
var observed = []string{"bailiff", "tables", "observe"}

// observe has the rules of the table classes that may be observed, and have no row, observed for so many days. A row that is there
// stays as it is, so that no rule is observed for longer by doing the same again.
func observe(doc *yamledit.Document, days int, now time.Time) error {
	if days < 1 || days > judged.MostObservedDays {
		return fmt.Errorf("rules are observed for 1 to %d days, not for %d", judged.MostObservedDays, days)
	}
	said, err := doc.Value(observed...)
	if err != nil {
		return err
	}
	classes, err := doc.Value("bailiff", "tables", "classes")
	if err != nil {
		return err
	}
	rows, _ := said.(map[string]any)
	if rows == nil {
		rows = map[string]any{}
	}
	before := len(rows)
	until := map[string]any{"until": now.UTC().AddDate(0, 0, days).Format(time.DateOnly)}
	for _, rule := range rulesOf(classes) {
		if rows[rule] == nil && mayBeObserved(rule) {
			rows[rule] = until
		}
	}
	if len(rows) == before {
		return nil
	}
	return doc.Set(rows, observed...)
}

func rulesOf(classes any) (rules []string) {
	all, _ := classes.(map[string]any)
	for _, class := range all {
		fields, _ := class.(map[string]any)
		if rule, ok := fields["rule"].(string); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

func mayBeObserved(rule string) bool {
	family, _, _ := strings.Cut(rule, ".")
	return !slices.Contains(judged.UnobservedFamilies, family) && !slices.Contains(judged.Unobserved, rule)
}
