package usage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/host/usage"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFolderTakesTheBlocksOfItsFiles(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "full"), make([]byte, 1<<20), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(dir, "empty"), 1<<40)) // which takes no block
	must(t, os.Symlink("/", filepath.Join(dir, "elsewhere")))
	wide := usage.Usage{Bytes: 1 << 30, Files: 100}
	is, err := usage.Of(t.Context(), dir, wide)
	if err != nil || is.Files != 3 || is.Bytes < 1<<20 || is.Bytes > 2<<20 {
		t.Errorf("a folder with 1 MiB in three files: %+v, %v", is, err)
	}
	for name, most := range map[string]usage.Usage{"bytes": {Bytes: 1 << 10, Files: 100}, "files": {Bytes: 1 << 30, Files: 2}} {
		if is, err := usage.Of(t.Context(), dir, most); !errors.Is(err, usage.ErrMore) {
			t.Errorf("beyond the bound of %s: %+v, %v", name, is, err)
		}
	}
	must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("a/", 201)), 0o700))
	if _, err := usage.Of(t.Context(), dir, usage.Usage{Bytes: 1 << 30, Files: 1000}); !errors.Is(err, usage.ErrMore) {
		t.Errorf("folders that lie deeper than may be: %v", err)
	}
}

func TestAFolderThatIsGoneTakesNothing(t *testing.T) {
	if is, err := usage.Of(t.Context(), filepath.Join(t.TempDir(), "gone"), usage.Usage{}); err != nil || is.Files != 0 {
		t.Errorf("%+v, %v", is, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := usage.Of(ctx, t.TempDir(), usage.Usage{}); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}
