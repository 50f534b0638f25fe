package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestACredentialIsReadAndItsFileJudgedAtEachUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	backendtest.Must(t, os.WriteFile(path, []byte("first\n"), 0o600))
	key := settings.Credential{File: path}
	reads := func(want string) {
		t.Helper()
		secret, err := key.Read()
		if err != nil || secret.Reveal() != want {
			t.Errorf("it is %v, %v, want %s", secret, err, want)
		}
	}
	reads("first")
	backendtest.Must(t, os.WriteFile(path, []byte("second\n"), 0o600))
	reads("second")
	backendtest.Must(t, os.Chmod(path, 0o644))
	if _, err := key.Read(); err == nil || !strings.Contains(err.Error(), "others may use "+path) {
		t.Errorf("of a file that everybody may read it says %v", err)
	}
}
