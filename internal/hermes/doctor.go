package hermes

import (
	"context"
	"fmt"

	"github.com/bailiff-dev/bailiff/api"
)

// State is how a check came out. The zero value is no good one.
type State string

// The states of a check.
const (
	Failed State = "failure"
	Warned State = "warning"
	Fine   State = "ok"
)

// Diagnosis is what an examination found.
type Diagnosis struct {
	Home   string  `json:"home"`
	Checks []Check `json:"checks"`
}

// Check is one thing that was looked at; Do says what would mend it.
type Check struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Do      string `json:"do,omitempty"`
}

// Worst is the worst state among the checks; without any it is a failure.
func (d Diagnosis) Worst() State {
	worst := Fine
	for _, c := range d.Checks {
		switch c.State {
		case Fine:
		case Warned:
			worst = Warned
		default:
			return Failed
		}
	}
	if len(d.Checks) == 0 {
		return Failed
	}
	return worst
}

func (d *Diagnosis) fine(name, format string, args ...any) {
	d.Checks = append(d.Checks, Check{name, Fine, fmt.Sprintf(format, args...), ""})
}

func (d *Diagnosis) warn(name, message, do string) {
	d.Checks = append(d.Checks, Check{name, Warned, message, do})
}

func (d *Diagnosis) fail(name, message, do string) {
	d.Checks = append(d.Checks, Check{name, Failed, message, do})
}

// Sidecar is the one that should guard a home.
type Sidecar interface {
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
		d.fail("gate", "Nothing is proven: what is not the shipped plug-in is not started.", "Mend the plug-in first.")
	}
	h.examineBypasses(d)
	return *d
}
