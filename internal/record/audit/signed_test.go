package audit

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// headKeys writes a pair of keys as openssl does.
func headKeys(t *testing.T) (private, public string) {
	t.Helper()
	folder := t.TempDir()
	pub, priv, err := ed25519.GenerateKey(nil)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(priv)
	must(t, err)
	open, err := x509.MarshalPKIXPublicKey(pub)
	must(t, err)
	private, public = filepath.Join(folder, "head.key"), filepath.Join(folder, "head.pub")
	must(t, os.WriteFile(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	must(t, os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}), 0o600))
	return private, public
}

// signedLine is a head as "bailiff audit head" prints it.
func signedLine(t *testing.T, dir, key string) string {
	t.Helper()
	h, err := SignHead(dir, key, time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	must(t, err)
	text, err := json.Marshal(h)
	must(t, err)
	return string(text) + "\n"
}

// Who has the state folder has the key of the hashes, and can write a log that fits it.
func TestALogThatWasWrittenAnewWithItsOwnKeyIsFound(t *testing.T) {
	t.Parallel()
	private, public := headKeys(t)
	dir := t.TempDir()
	lines := signedLine(t, started(t, dir), private)
	threeSegments(t, dir)
	lines += "Nov 27 12:00:00 host bailiff[7]: " + signedLine(t, dir, private)
	heads, err := ReadHeads(strings.NewReader(lines), "heads", public)
	must(t, err)
	if report, err := Verify(dir, heads...); err != nil || report.Signed != 2 {
		t.Fatalf("of a sound log it says %v, %+v", err, report)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "decisions")))
	must(t, os.Remove(headPath(dir)))
	threeSegments(t, dir)
	if _, err := Verify(dir); err != nil {
		t.Fatalf("the forged log does not fit its key: %v", err)
	}
	if _, err := Verify(dir, heads...); !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), "written anew") {
		t.Errorf("against the heads it says %v", err)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "decisions")))
	must(t, os.Remove(headPath(dir)))
	started(t, dir)
	if _, err := Verify(dir, heads...); !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("of a shorter log it says %v", err)
	}
}

// started makes a log that has no lines yet.
func started(t *testing.T, dir string) string {
	t.Helper()
	must(t, open(t, Config{StateDir: dir}).Close())
	return dir
}

func TestWhatIsNoSignedHeadIsNamed(t *testing.T) {
	t.Parallel()
	private, public := headKeys(t)
	_, other := headKeys(t)
	dir := started(t, t.TempDir())
	line := signedLine(t, dir, private)
	for name, c := range map[string]struct{ lines, key, says string }{
		"a line that was edited": {strings.Replace(line, `"lines":0`, `"lines":1`, 1), public, "heads:1: the signature"},
		"another key":            {line, other, "heads:1: the signature"},
		"no head":                {line + "hello\n", public, "heads:2: this is no head"},
		"nothing":                {"", public, "heads holds no head"},
		"a private key":          {line, private, "no public key of Ed25519"},
	} {
		if _, err := ReadHeads(strings.NewReader(c.lines), "heads", c.key); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := SignHead(dir, public, time.Now()); err == nil || !strings.Contains(err.Error(), "no private key of Ed25519") {
		t.Errorf("with a public key it says %v", err)
	}
	must(t, os.Chmod(private, 0o644))
	if _, err := SignHead(dir, private, time.Now()); err == nil || !strings.Contains(err.Error(), "others may") {
		t.Errorf("with a key that others may read it says %v", err)
	}
}
