package pdp

import (
	"context"

	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
)

// Mask answers with what is to be masked in an event of the decision log, which is
// the input that it is asked about, as in stock OPA. Policies without a mask are not
// asked.
func (p *PDP) Mask(ctx context.Context, event []byte) (mask any, defined bool, err error) {
	if !p.Masks() {
		return nil, false, nil
	}
	return p.Read(ctx, event, policyset.MaskPath)
}

// Masks says whether the policies in force have a mask.
func (p *PDP) Masks() bool { return p.inForce.Load().masks }
