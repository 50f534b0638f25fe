package corpus_test

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

func toAST(t testing.TB, v any) ast.Value {
	a, err := ast.InterfaceToValue(v)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
