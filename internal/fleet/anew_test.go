package fleet

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// What was said anew before a fault is not said again, unless another server was accepted since.
func TestSayingAnewGoesOnWhereItFailed(t *testing.T) {
	t.Parallel()
	var all []key
	for n := range 3*putAtOnce + 1 {
		var k key
		binary.BigEndian.PutUint32(k[:], uint32(n))
		all = append(all, k)
	}
	var a anew
	told, room := map[key]int{}, 0
	put := func(ctx context.Context, some []key) error {
		if _, bounded := ctx.Deadline(); !bounded || room == 0 {
			return errors.New("it takes too long")
		}
		room--
		for _, k := range some {
			told[k]++
		}
		return nil
	}
	for round, want := range []int{putAtOnce, 2 * putAtOnce, 3 * putAtOnce, len(all)} {
		room = 1
		err := a.say(t.Context(), 1, append([]key{}, all...), put)
		if len(told) != want || (err == nil) != (want == len(all)) {
			t.Fatalf("after round %d it was told of %d, want %d; %v", round, len(told), want, err)
		}
	}
	backendtest.Must(t, a.say(t.Context(), 1, all, put))
	for k, times := range told {
		if times != 1 {
			t.Fatalf("it was told of %x %d times", k, times)
		}
	}
	clear(told)
	room = 4
	backendtest.Must(t, a.say(t.Context(), 2, append([]key{}, all...), put))
	if len(told) != len(all) {
		t.Errorf("another server was told of %d, want %d", len(told), len(all))
	}
}
