package flow

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func TestCreditIsTakenAsFarAsItGoesAndGivenBackByItsEnd(t *testing.T) {
	t.Parallel()
	var c Credit
	c.Open(100 + 2*wire.Overhead)
	if n := c.Take(60); n != 60 {
		t.Errorf("of 100 bytes and what two frames cost, %d are taken, want 60", n)
	}
	if n := c.Take(60); n != 40 {
		t.Errorf("then %d are taken, want the 40 that are left", n)
	}
	taken := make(chan int)
	go func() { taken <- c.Take(60) }()
	c.Add(wire.Overhead) // too little for a frame
	c.Add(7)
	if n := <-taken; n != 7 {
		t.Errorf("of 7 more bytes %d are taken", n)
	}
	go func() { taken <- c.Take(60) }()
	c.Close()
	if n := <-taken; n != 0 {
		t.Errorf("at its end %d bytes are taken, want none", n)
	}
}
