package hermes

import (
	"context"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// Diagnosis is what an examination found.
type Diagnosis struct {
	Home   string           `json:"home"`
	Checks diagnosis.Checks `json:"checks"`
}

// Sidecar is the one that should guard a home.
type Sidecar = interface {
	Status(ctx context.Context) (api.Status, error)
}

// Examine looks whether the plug-in and the sidecar guard a home, proves it by a
// call that must be denied, and lists what goes past them.
func Examine(ctx context.Context, h *Home, sidecar Sidecar) Diagnosis {
	d := &Diagnosis{Home: h.Folder}
	whole := h.examinePlugin(d)
	h.examineSidecar(ctx, d, sidecar)
	if whole {
		h.examineGate(ctx, d)
	} else {
		d.Checks.Fail("gate", "Nothing is proven: what is not the shipped plug-in is not started.", "Mend the plug-in first.")
	}
	h.examineBypasses(d)
	return *d
}
