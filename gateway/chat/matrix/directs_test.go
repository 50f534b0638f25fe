package matrix

import (
	"strconv"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/recent"
)

func TestWhomARoomIsForIsForgottenOfThatRoomAlone(t *testing.T) {
	t.Parallel()
	d := &directRooms{known: recent.New[string, string](2)}
	for n := range 4 { // of which two are of long ago
		d.known.Put("@u"+strconv.Itoa(n), "!r"+strconv.Itoa(n))
	}
	for _, n := range []int{1, 3} {
		d.forget("!r" + strconv.Itoa(n))
	}
	for n := range 4 {
		if room, known := d.known.Get("@u" + strconv.Itoa(n)); known != (n%2 == 0) {
			t.Errorf("of @u%d it is %q", n, room)
		}
	}
	kept := 0
	d.known.ForgetAll(func(string) bool { kept++; return false })
	if kept > 4 {
		t.Errorf("%d are kept", kept)
	}
}
