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
	backendtest.Must(t, os.WriteFile(path, []byte("the-first-of-keys\n"), 0o600))
	key := settings.Credential{File: path}
	reads := func(want string) {
		t.Helper()
		secret, err := key.Read()
		if err != nil || secret.Reveal() != want {
			t.Errorf("it is %v, %v, want %s", secret, err, want)
		}
	}
	reads("the-first-of-keys")
	backendtest.Must(t, os.WriteFile(path, []byte("the-second-of-keys\n"), 0o600))
	reads("the-second-of-keys")
	backendtest.Must(t, os.Chmod(path, 0o644))
	if _, err := key.Read(); err == nil || !strings.Contains(err.Error(), "others may use "+path) {
		t.Errorf("of a file that everybody may read it says %v", err)
	}
}

func TestASecretThatCanBeGuessedIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	backendtest.Must(t, os.WriteFile(path, []byte(" fifteen-letters\n"), 0o600))
	t.Setenv("A_SHORT_KEY", "x")
	t.Setenv("A_BLANK_KEY", "  ")
	for want, key := range map[string]settings.Credential{
		path + " holds a secret of 15 characters, want at least 16":             {File: path},
		"variable A_SHORT_KEY holds a secret of 1 characters, want at least 16": {Env: "A_SHORT_KEY"},
		"variable A_BLANK_KEY is empty":                                         {Env: "A_BLANK_KEY"},
	} {
		if _, err := key.Read(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("it says %v, want %s", err, want)
		}
	}
}
