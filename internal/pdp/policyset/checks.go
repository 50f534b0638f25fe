package policyset

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// CheckMore finds what compiling does not; the compiler is nil where that failed.
func (p *Set) CheckMore(compiler *ast.Compiler) (faults source.Faults) {
	if compiler != nil {
		faults = append(p.checkLookups(compiler), p.checkSpelling(compiler)...)
	}
	return append(append(faults, p.checkMask()...), p.checkTables()...)
}
