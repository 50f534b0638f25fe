package pdp

import (
	"context"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maskPath is the document that masks events of the decision log.
const maskPath = "system/log/mask"

// Mask answers with what is to be masked in an event of the decision log, which is
// the input that it is asked about, as in stock OPA. Policies without a mask are not
// asked.
func (p *PDP) Mask(ctx context.Context, event []byte) (mask any, defined bool, err error) {
	if !p.Masks() {
		return nil, false, nil
	}
	return p.Read(ctx, event, maskPath)
}

// Masks says whether the policies in force have a mask.
func (p *PDP) Masks() bool { return p.inForce.Load().masks }

// masks says whether rules or data define the mask.
func (p *parsed) masks(compiler *ast.Compiler) bool {
	at := strings.Split(maskPath, "/")
	ref := ast.DefaultRootRef
	for _, name := range at {
		ref = ref.Append(ast.StringTerm(name))
	}
	data, _ := p.defines(at)
	return data || len(compiler.GetRules(ref)) > 0
}
