package repository

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"testing"
)

func FuzzIndex(f *testing.F) {
	const seed = "44495243000000020000000100000000000000000000000000000000000000000000000000000000000e000000000000000000000000" +
		"0000000000000000000000000000000000000000000000000001660000000000000000"
	for _, version := range []byte{2, 3, 4} {
		text, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		text[7] = version
		f.Add(append(text, make([]byte, sha1.Size)...))
		f.Add(append(text, make([]byte, sha256.Size)...))
	}
	all := func(string, uint32) bool { return true }
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, hash := range []int{sha1.Size, sha256.Size} {
			x := Index{text, hash}
			if x.check() != nil {
				continue
			}
			again := x.Without(nil)
			if err := again.check(); err != nil || !reflect.DeepEqual(x.Entries(all), again.Entries(all)) {
				t.Errorf("of %+v are left %+v, %v", x.Entries(all), again.Entries(all), err)
			}
			if none := x.Without(x.Repositories()); none.check() != nil || len(none.Repositories()) > 0 {
				t.Errorf("of %+v are left the repositories %+v", x.Entries(all), none.Repositories())
			}
		}
	})
}
