package policyset

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/policies"
)

// The comment of decision.rego is what people read who contribute.
func TestTheKeysOfContributionsAreThoseThatDecisionRegoNames(t *testing.T) {
	text, err := policies.FS.ReadFile("decision.rego")
	must(t, err)
	plain := regexp.MustCompile(`\n# {5,}`).ReplaceAllString(string(text), " ")
	told := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^# (\w+) +\{([^}]*)\}`).FindAllStringSubmatch(plain, -1) {
		told[found[1]] = found[2]
	}
	known := map[string]string{}
	for set, keys := range contributed {
		known[set] = strings.Join(keys, ", ")
	}
	if !maps.Equal(told, known) {
		t.Errorf("decision.rego says %v\nknown are %v", told, known)
	}
}
