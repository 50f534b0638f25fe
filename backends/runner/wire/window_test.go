package wire_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// long is the account of a connection that has carried much.
func long(width *wire.Width) *wire.Account {
	a := wire.NewAccount(width)
	a.Pass(wire.Much)
	a.TakeDue()
	return &a
}

func TestAConnectionThatCarriesLittleHasTheUsualWindow(t *testing.T) {
	t.Parallel()
	a := wire.NewAccount(new(wire.Width))
	allowed := 0
	for passed := 0; passed < wire.Much-1<<10; passed += 1 << 10 {
		a.Pass(1 << 10)
		allowed += a.TakeDue()
		if open := passed + 1<<10 - allowed; a.Widen() || a.Size() != wire.ConnWindow || open >= wire.ConnWindow/2 {
			t.Fatalf("after %d bytes it has %d in flight, and %d are not allowed anew", passed, a.Size(), open)
		}
	}
	if a.Pass(1 << 10); !a.Widen() || a.Size() != wire.WideWindow || a.Widen() {
		t.Errorf("after %d bytes it has %d in flight, or is told of that twice", wire.Much, a.Size())
	}
}

func TestFewConnectionsHaveAWideWindowAtOnce(t *testing.T) {
	t.Parallel()
	width, wide := new(wire.Width), []*wire.Account{}
	for range wire.WideConns {
		a := long(width)
		if wide = append(wide, a); !a.Widen() {
			t.Fatalf("of %d connections one has the usual window", len(wide))
		}
	}
	further := long(width)
	if further.Widen() || further.Size() != wire.ConnWindow {
		t.Error("one more than there may be has a wide window")
	}
	for range 2 { // the second time changes nothing
		wide[0].Close()
	}
	if wide[0].Size() != wire.WideWindow {
		t.Error("what its sender was allowed before the end is too much now")
	}
	if over := long(width); !further.Widen() || over.Widen() {
		t.Error("the end of one has not let exactly one other have a wide window")
	}
	ended := long(new(wire.Width))
	if ended.Close(); ended.Widen() {
		t.Error("a connection that has ended is widened")
	}
}
