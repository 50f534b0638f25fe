package object

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential`)

// NamesSecret says whether values hold a variable of the environment that is named as a secret.
func NamesSecret(vs Objects, depth int) bool {
	for _, v := range vs {
		if _, name, found := strings.Cut(v.Text, VariableHole); found && v.Shape == IsString {
			name, _, _ = strings.Cut(name, HoleEnd)
			if secretName.MatchString(name) {
				return true
			}
		}
		for _, item := range v.Items {
			if depth < syntax.MaxDepth && NamesSecret(item, depth+1) {
				return true
			}
		}
	}
	return false
}
