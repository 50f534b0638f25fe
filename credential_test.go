package bailiff

import (
	"math"
	"testing"
)

func TestACredentialNamesOneUser(t *testing.T) {
	for _, uid := range []uint32{0, 1001, math.MaxUint32} {
		if got, ok := UID(Credential(uid)); got != uid || !ok {
			t.Errorf("%s is user %d (%t), want %d", Credential(uid), got, ok, uid)
		}
	}
	if got := Credential(1001); got != "uid:1001" {
		t.Errorf("user 1001 is known as %q", got)
	}
	for _, other := range []string{"", "1001", "uid:", "uid:-1", "uid:+1", "uid: 1", "uid:1 ", "uid:ana", "uid:4294967296", "UID:1",
		LocalTCP, RemoteTCP} {
		if uid, ok := UID(other); ok {
			t.Errorf("%q counts as user %d", other, uid)
		}
	}
}
