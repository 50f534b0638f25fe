package wire_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func TestTheRunnerReadsWhatItIsKeptFromAsItWasWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]wire.Seclusion{
		"":                      {},
		"network":               {Network: true},
		"root":                  {Root: true},
		"pids=64":               {PIDs: 64},
		"network,root,pids=200": {Network: true, Root: true, PIDs: 200},
	} {
		if got := want.String(); got != text {
			t.Errorf("%+v is written %q, want %q", want, got, text)
		}
		if got, err := wire.ParseSeclusion(text); got != want || err != nil {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"pids=", "pids=0", "pids=-1", "networks", "pids"} {
		if got, err := wire.ParseSeclusion(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
