package outage

import (
	"errors"
	"testing"
)

func TestAnOutageBeginsWithItsFirstFailure(t *testing.T) {
	full, gone := errors.New("the disk is full"), errors.New("the disk is gone")
	var o Outage
	if err := o.Err(); err != nil {
		t.Fatalf("before any attempt it is %v", err)
	}
	for i, attempt := range []struct {
		ended  error
		begins bool
	}{{nil, false}, {full, true}, {full, false}, {gone, false}, {nil, false}, {nil, false}, {gone, true}} {
		if begins := o.Set(attempt.ended); begins != attempt.begins || o.Err() != attempt.ended {
			t.Errorf("after attempt %d, which ended in %v, an outage begins: %v; it is %v", i, attempt.ended, begins, o.Err())
		}
	}
}
