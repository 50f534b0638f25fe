package enforcer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestEveryRuleOfTheFloorSaysWhatWouldBeAllowedInstead(t *testing.T) {
	t.Parallel()
	withholding := map[string]bool{ruleNotRequested: true, ruleWithheld: true, ruleNoWay: true} // they deny nothing
	rules := rulesInSource(t)
	if len(rules) < 9 {
		t.Fatalf("only these rules were found: %v", rules)
	}
	for _, rule := range rules {
		d := deny(bailiff.Decision{}, rule, "No.")
		if text := d.Denials[0].Instead; (text == "") != withholding[rule] || bailiff.Sentence(text) != text {
			t.Errorf("%s says %q instead", rule, text)
		}
	}
}

// rulesInSource are the values of the constants, here and in the root, whose names
// begin with "rule".
func rulesInSource(t *testing.T) (rules []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range append(files, "../rules.go") {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "rule") &&
				len(spec.Values) == 1 {
				if value, ok := spec.Values[0].(*ast.BasicLit); ok {
					rule, _ := strconv.Unquote(value.Value)
					rules = append(rules, rule)
				}
			}
			return true
		})
	}
	return slices.DeleteFunc(rules, func(rule string) bool { return rule == bailiff.RuleGuard })
}
