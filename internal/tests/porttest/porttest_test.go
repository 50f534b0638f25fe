package porttest_test

import (
	"net"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

func TestAPortIsFreeAndGivenToOneTestAtATime(t *testing.T) {
	given := map[string]bool{}
	for range 500 {
		address := porttest.Address(t)
		if given[address] {
			t.Errorf("%s is given twice", address)
		}
		given[address] = true
	}
	for address := range given {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("it is taken: %v", err)
			continue
		}
		_ = listener.Close()
	}
}
