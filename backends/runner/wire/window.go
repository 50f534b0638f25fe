package wire

import "sync/atomic"

// ConnWindow is how many bytes a connection of an outlet may have in flight each way, and
// ConnsWindow how many all of them together. One that has carried Much may have WideWindow, as
// long as no more than WideConns of a direction do: a transfer then waits less often for the
// other side, and idle connections hold no more memory than before.
const (
	ConnWindow  = 64 << 10
	ConnsWindow = 1 << 20
	Much        = 1 << 20
	WideWindow  = 128 << 10
	WideConns   = 8
)

// Widening is how many bytes more [Widen] allows.
const Widening = WideWindow - ConnWindow

// Width counts the connections of an outlet whose window in one direction is wide.
type Width struct{ conns atomic.Int32 }

// Account is what the receiver of a connection notes of its bytes. Who uses it locks it.
type Account struct {
	width *Width
	// wide says that the sender has the wide window, counts that this account holds a place of width.
	wide, counts, over bool
	total, untold      int
}

// NewAccount is that of a new connection.
func NewAccount(width *Width) Account { return Account{width: width} }

// Size is how many bytes may be in flight.
func (a *Account) Size() int {
	if a.wide {
		return WideWindow
	}
	return ConnWindow
}

// Pass notes bytes that were passed on.
func (a *Account) Pass(n int) {
	a.total = min(a.total+n, Much)
	a.untold += n
}

// TakeDue takes the bytes that the sender is to be allowed anew, none while they are few.
func (a *Account) TakeDue() (n int) {
	if a.untold >= ConnWindow/4 && !a.wide || a.untold >= WideWindow/2 {
		n, a.untold = a.untold, 0
	}
	return n
}

// Widen takes a place for the wide window, once; it is false where the connection carried little or no place is free.
func (a *Account) Widen() bool {
	if a.wide || a.over || a.total < Much {
		return false
	}
	if a.width.conns.Add(1) > WideConns {
		a.width.conns.Add(-1)
		return false
	}
	a.wide, a.counts = true, true
	return true
}

// Close lets another connection have a wide window: nothing of this one is kept any more.
func (a *Account) Close() {
	if a.over = true; a.counts {
		a.counts = false
		a.width.conns.Add(-1)
	}
}
