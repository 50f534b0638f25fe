package matrix

import (
	"strconv"
	"testing"
)

func TestWhomARoomIsForIsForgottenOfThatRoomAlone(t *testing.T) {
	d := &directs{known: newRecent[string](2)}
	for n := range 4 { // of which two are of long ago
		d.known.put("@u"+strconv.Itoa(n), "!r"+strconv.Itoa(n))
	}
	for _, n := range []int{1, 3} {
		d.forget("!r" + strconv.Itoa(n))
	}
	for n := range 4 {
		if room, known := d.known.get("@u" + strconv.Itoa(n)); known != (n%2 == 0) {
			t.Errorf("of @u%d it is %q", n, room)
		}
	}
	if n := len(d.known.young) + len(d.known.old); n > 4 {
		t.Errorf("%d are kept", n)
	}
}
