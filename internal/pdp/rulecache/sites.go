package rulecache

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
)

// sites are the places of compiled policies that refer to rules with numbers, by the last terms of these references. OPA asks for a
// rule by the terms that stand there, so that their names need not be read.
type sites map[*ast.Term]site

type site struct {
	rule   ast.Ref
	number int
}

func sitesIn(rules map[*ast.Rule]bool, numbers *dependencies.Numbers) sites {
	all := sites{}
	for rule := range rules {
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			for length := 2; length <= len(ref) && ref[length-1].IsGround(); length++ {
				if number, ok := numbers.Of(ref[:length]); ok {
					all[ref[length-1]] = site{ref[:length], number}
				}
			}
			return false
		})
	}
	return all
}

// numberOf is the number of a rule that OPA asks for, if it has one and is asked for by one of the places.
func (s sites) numberOf(key ast.Ref) (number int, ok bool) {
	at, ok := s[key[len(key)-1]]
	return at.number, ok && slices.Equal(at.rule, key)
}
