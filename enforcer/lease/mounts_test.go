package lease

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestProtectedFoldersAreShownReadOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".claude", "src"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	data := bailiff.Mount{Source: "/srv/data", Target: "/srv/data", ReadOnly: true, Protected: []string{".claude/"}}
	all, guarded := shown([]bailiff.Mount{{Source: dir, Target: "/p", Protected: []string{".claude/", ".codex/", ".envrc"}}, data})
	data.Protected = nil
	want := []bailiff.Mount{{Source: dir, Target: "/p"}, {Source: dir + "/.claude", Target: "/p/.claude", ReadOnly: true}, data}
	if !guarded || !reflect.DeepEqual(all, want) {
		t.Errorf("mounts %+v, guarded %v; want %+v", all, guarded, want)
	}
	if all, guarded := shown([]bailiff.Mount{data}); guarded || len(all) != 1 {
		t.Errorf("without protected files: %+v, %v", all, guarded)
	}
}
