package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestACredentialIsReadAndItsFileJudgedAtEachUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := settings.Credential{File: path}
	reads := func(want string) {
		t.Helper()
		secret, err := key.Read()
		if err != nil || secret.Reveal() != want {
			t.Errorf("it is %v, %v, want %s", secret, err, want)
		}
	}
	reads("first")
	if err := os.WriteFile(path, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads("second")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := key.Read(); err == nil || !strings.Contains(err.Error(), "others may use "+path) {
		t.Errorf("of a file that everybody may read it says %v", err)
	}
}
