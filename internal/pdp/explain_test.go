package pdp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestAnExplanationOwnsUpToWhatItCouldNotTry(t *testing.T) {
	t.Parallel()
	p, err := Open(t.Context(), Config{Explained: true})
	must(t, err)
	p.inForce.Load().store = nil
	x := p.Explain(t.Context(), listing, ready, bailiff.Decision{}, bytes.Clone)
	if !strings.Contains(x.Fault, "without a condition panicked: ") || len(x.Fired) == 0 {
		t.Errorf("got %+v", x)
	}
}
