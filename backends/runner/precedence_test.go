package runner

import (
	"testing"
	"testing/synctest"
	"time"
)

// waited is how long a piece of a connection waits.
func waited(p *precedence) time.Duration {
	began := time.Now()
	p.wait()
	return time.Since(began)
}

func TestBytesOfConnectionsWaitForCallsThatBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p precedence
		if got := waited(&p); got != 0 {
			t.Errorf("without a call bytes waited %v", got)
		}
		end := p.begin()
		time.AfterFunc(precedenceTime/4, end)
		if got := waited(&p); got != precedenceTime/4 {
			t.Errorf("beside a short call bytes waited %v, want %v", got, precedenceTime/4)
		}
		end()
		if got := waited(&p); got != 0 {
			t.Errorf("after a call that ended twice bytes waited %v", got)
		}
	})
}

func TestCallsHoldUpNoConnectionForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p precedence
		long := p.begin()
		defer long()
		time.Sleep(precedenceTime / 2)
		defer p.begin()() // before the first has lost its precedence, as with calls that follow one another
		if got := waited(&p); got != precedenceTime {
			t.Errorf("bytes waited %v, want %v", got, precedenceTime)
		}
		synctest.Wait()
		if got := waited(&p); got != 0 {
			t.Errorf("beside two calls that go on bytes waited %v", got)
		}
	})
}
