package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

// held is a backend that holds something open.
type held struct {
	backends.Backend
	closed bool
	fault  error
}

func (h *held) Close() error {
	h.closed = true
	return h.fault
}

func TestWhateverABackendHoldsOpenIsClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	well, ill := new(held), &held{fault: errors.New("stuck")}
	c := &core{backends: map[string]backends.Backend{"well": well, "ill": ill, "bare": struct{ backends.Backend }{}},
		release: func() error { return nil }}
	if err := c.releaseAll(); err == nil || !strings.Contains(err.Error(), "closing backend ill: stuck") ||
		strings.Contains(err.Error(), "well") {
		t.Errorf("the end says %v", err)
	}
	if !well.closed || !ill.closed {
		t.Error("a backend was left open")
	}
}
