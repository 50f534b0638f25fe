package pdp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestAnExplanationOwnsUpToWhatItCouldNotTry(t *testing.T) {
	backendtest.Evaluates(t)
	t.Parallel()
	p, err := Open(t.Context(), Config{Explained: true})
	must(t, err)
	p.inForce.Load().store = nil
	x := p.Explain(t.Context(), listing, ready, bailiff.Decision{}, bytes.Clone)
	if !strings.Contains(x.Fault, "without a condition panicked: ") || len(x.Fired) == 0 {
		t.Errorf("got %+v", x)
	}
}
