package workdirs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// What cannot be removed in time must not be found by the next session of the same name.
func TestAWorkspaceThatCannotBeRemovedIsNotFoundAgain(t *testing.T) {
	t.Parallel()
	dirs, err := workdirs.New("test", t.TempDir(), "10000:10000", nil)
	must(t, err)
	taken, err := dirs.Take(t.Context(), "o", "w", 0)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(taken.Folder, "file"), nil, 0o600))
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dirs.RemoveWorkspace(late, "o", "w"); !errors.Is(err, context.Canceled) {
		t.Errorf("a removal without time ended with %v", err)
	}
	if names, err := dirs.Workspaces(t.Context(), "o"); err != nil || len(names) > 0 {
		t.Errorf("there are %v, %v, want none", names, err)
	}
	again, err := dirs.Take(t.Context(), "o", "w", 0)
	must(t, err)
	if files, err := os.ReadDir(again.Folder); err != nil || len(files) > 0 {
		t.Errorf("the next one of that name has %v, %v", files, err)
	}
	must(t, dirs.Clear(t.Context()))
	must(t, dirs.RemoveWorkspace(t.Context(), "o", "w"))
	must(t, dirs.Clear(t.Context()))
	if left, err := os.ReadDir(filepath.Join(dirs.Folder, "removed")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
