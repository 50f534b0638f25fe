package backendtest

import (
	"strings"
	"syscall"
	"testing"
)

func TestARoundTriesWhatRestsOnItsGrounds(t *testing.T) {
	cases := []check{promise("runner", onRunner, nil), promise("place", OnPlace, nil), promise("user", OnPlace|OnUser, nil),
		promise("stream", OnStream, nil), promise("kernel", OnKernel, nil)}
	for _, c := range []struct {
		name       string
		everything string
		tries      Ground
		want       string
	}{
		{"a backend that says nothing", "", 0, "runner place user stream kernel"},
		{"a backend", "", OnBackend, "place user stream"},
		{"another way of setting bounds", "", OnBackend | OnKernel, "place user stream kernel"},
		{"another user", "", OnUser, "user"},
		{"another transport", "", OnStream, "stream"},
		{"another user in a run of everything", "1", OnUser, "runner place user stream kernel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("BAILIFF_TEST_ALL", c.everything)
			t.Setenv("BAILIFF_UPDATE_RESULTS", "")
			var got []string
			for _, one := range (Config{Tries: c.tries}).cases(cases) {
				got = append(got, one.promise)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("tried are %q, want %s", got, c.want)
			}
		})
	}
}

func TestEveryGroundHasItsCases(t *testing.T) {
	have := map[Ground]int{}
	for _, c := range all() {
		for _, ground := range []Ground{onRunner, OnPlace, OnUser, OnStream, OnKernel} {
			if c.ground == ground || c.ground&ground != 0 {
				have[ground]++
			}
		}
	}
	if len(have) != 5 {
		t.Errorf("cases rest on %v, want some on each ground", have)
	}
}

func TestWhatFloodsTheMachineKeepsOthersFromIt(t *testing.T) {
	tries := func(t *testing.T) error {
		other, err := floodFile()
		Must(t, err)
		defer other.Close()
		return syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	t.Run("while it does", func(t *testing.T) {
		Alone(t)
		if err := tries(t); err != syscall.EWOULDBLOCK {
			t.Errorf("another flood is kept off by %v", err)
		}
	})
	t.Run("not after it", func(t *testing.T) { Await(t, "the lock is free", func() bool { return tries(t) == nil }) })
}
