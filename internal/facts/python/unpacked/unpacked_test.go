package unpacked_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/python/unpacked"
)

func TestAFolderHoldsWhatLiesInItFromThenOn(t *testing.T) {
	var f unpacked.Folders
	f.Add("~/web/d", 1)
	for file, want := range map[string]bool{"~/web/d/run": true, "~/web/d/a/run": true, "~/web/dist/run": false, "~/web/run": false} {
		if f.Hold(file, 1) != want || f.Hold(file, 0) {
			t.Errorf("%s: held by %v at once is %v, want %v; before is %v, want false", file, f, f.Hold(file, 1), want, f.Hold(file, 0))
		}
	}
	f.Add(".", 0)
	for file, want := range map[string]bool{"run": true, "sub/run": true, "/opt/run": false, "~/run": false, "../run": false} {
		if f.Hold(file, 0) != want {
			t.Errorf("%s: held by %v is %v, want %v", file, f, !want, want)
		}
	}
}

func TestModulesAreHeldByArchivesAndWhatIsUnpackedFromThem(t *testing.T) {
	var f unpacked.Folders
	f.Add("~/web/d", 3)
	for dir, want := range map[string]bool{"lib/a.zip": true, "~/web/d": true, "~/web/d/src": true, "~/web": false, "src": false} {
		if f.HoldModules(dir) != want {
			t.Errorf("%s: its modules are held is %v, want %v", dir, !want, want)
		}
	}
}
