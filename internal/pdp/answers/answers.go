// Package answers reads what policies answer.
//
// Promised: an answer is read strictly. One that is no decision (undefined, an unknown key or value, parts that contradict each
// other) is a denial by the rule "policy.invalid" or "policy.error" that says where it is wrong, beside a fault. The denials that a
// wrong answer holds are kept.
//
// Not here: the evaluation (package evaluation).
package answers

import (
	"errors"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// Decision makes a decision of how an evaluation ended.
func Decision(answer *ast.Term, err error, backends map[string]bailiff.BackendState) (bailiff.Decision, error) {
	switch {
	case err != nil:
		return Failure(err)
	case answer == nil:
		return Failure(errors.New("evaluating policies: the decision is undefined"))
	}
	return decide(answer, backends)
}

// Failure is the denial of an evaluation that gave no answer.
func Failure(err error) (bailiff.Decision, error) {
	why := strings.Join(strings.Fields(err.Error()), " ") // OPA's are of several lines
	return Denial(ruleError, "The policies gave no decision: "+why+".", insteadOfError), err
}
