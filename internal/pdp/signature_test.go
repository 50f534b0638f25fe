package pdp

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"time"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// pair is a key to sign with and one to check with, as files.
type pair struct{ algorithm, private, public string }

func newPair(t *testing.T, algorithm string) pair {
	t.Helper()
	folder := t.TempDir()
	p := pair{algorithm, filepath.Join(folder, "private"), filepath.Join(folder, "public")}
	if strings.HasPrefix(algorithm, "HS") {
		p.public = p.private
		must(t, os.WriteFile(p.private, []byte(rand.Text()+rand.Text()), 0o600))
		return p
	}
	var key crypto.Signer
	var err error
	if strings.HasPrefix(algorithm, "ES") {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	} else {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	must(t, err)
	must(t, os.WriteFile(p.private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	must(t, os.WriteFile(p.public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600))
	return p
}

// opa runs OPA's own command, of the version that is built in.
func opa(t *testing.T, args ...string) (status int) {
	t.Helper()
	path, err := exec.Command("go", "tool", "-n", "opa").Output()
	must(t, err)
	command := exec.Command(strings.TrimSpace(string(path)), args...)
	printed, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("%s", printed)
	return command.ProcessState.ExitCode()
}

// signed is the bundle that stock OPA makes and signs.
func signed(t *testing.T, by pair, files map[string]string, more ...string) []byte {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "b.tar.gz")
	status := opa(t, append([]string{"build", "--bundle", tree(t, files), "--revision", "v1", "--output", archive,
		"--signing-key", by.private, "--signing-alg", by.algorithm}, more...)...)
	text, err := os.ReadFile(archive)
	if err != nil || status != 0 {
		t.Fatalf("opa build ended with %d, %v", status, err)
	}
	return text
}

var house = map[string]string{"p.rego": allowing, "p_test.rego": allowingTest, "tables/data.json": `{"a": [1, 2]}`}

func fetched(t *testing.T, text []byte, key *source.Key) (*PDP, error) {
	t.Helper()
	return Open(t.Context(), Config{Archive: &source.Archive{Name: "https://house.test/b.tar.gz", Text: text, Key: key}, RequireTests: true,
		EvalTimeout: time.Minute})
}

func TestABundleThatStockOPASignedIsInForce(t *testing.T) {
	backendtest.Evaluates(t)
	for _, algorithm := range []string{"RS256", "PS256", "ES256", "HS256"} {
		t.Run(algorithm, func(t *testing.T) {
			by := newPair(t, algorithm)
			p, err := fetched(t, signed(t, by, house), &source.Key{File: by.public, Algorithm: algorithm})
			must(t, err)
			if s := p.Status(); seconds(p) != 180 || s.Bundles["https://house.test/b.tar.gz"] != "v1" || len(s.Files) != 4 {
				t.Errorf("in force is %+v", s)
			}
		})
	}
}

func TestTheScopeOfASignatureCounts(t *testing.T) {
	by := newPair(t, "HS256")
	claims := filepath.Join(t.TempDir(), "claims.json")
	write(t, claims, `{"scope": "read"}`)
	text := signed(t, by, house, "--claims-file", claims)
	for scope, want := range map[string]string{"read": "", "write": "scope mismatch", "": "scope mismatch"} {
		_, err := fetched(t, text, &source.Key{File: by.public, Algorithm: "HS256", Scope: scope})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with the scope %q: %v", scope, err)
		}
	}
}

// repacked is an archive with its members changed; an empty text takes one away.
func repacked(t *testing.T, archive []byte, changes map[string]string) []byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	must(t, err)
	var members []member
	for from := tar.NewReader(plain); ; {
		head, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		text, err := io.ReadAll(from)
		must(t, err)
		place := path.Base(head.Name)
		changed, touched := changes[place]
		delete(changes, place)
		switch {
		case !touched:
			members = append(members, member{head.Name, string(text), tar.TypeReg})
		case changed != "":
			members = append(members, member{head.Name, changed, tar.TypeReg})
		}
	}
	for place, text := range changes {
		members = append(members, member{place, text, tar.TypeReg})
	}
	return []byte(packed(t, members...))
}

func TestABundleThatWasNotSignedAsItIsIsRefused(t *testing.T) {
	backendtest.Evaluates(t)
	by, other := newPair(t, "ES256"), newPair(t, "ES256")
	key := &source.Key{File: by.public, Algorithm: "ES256"}
	whole := signed(t, by, house)
	for name, c := range map[string]struct {
		text []byte
		key  *source.Key
		want string
	}{
		"no signature":        {repacked(t, whole, map[string]string{".signatures.json": ""}), key, "it is not signed"},
		"no key":              {whole, nil, "there is no key to check it by"},
		"another's signature": {signed(t, other, house), key, "failed to verify JWT signature"},
		"another algorithm":   {signed(t, newPair(t, "RS256"), house), key, "its signature does not hold"},
		"a file changed":      {repacked(t, whole, map[string]string{"p.rego": timed(9)}), key, "p.rego: digest mismatch"},
		"data changed":        {repacked(t, whole, map[string]string{"data.json": `{}`}), key, "data.json: digest mismatch"},
		"a manifest changed": {repacked(t, whole, map[string]string{".manifest": `{"revision": "v9"}`}), key,
			".manifest: digest mismatch"},
		"a test taken away": {repacked(t, whole, map[string]string{"p_test.rego": ""}), key, "p_test.rego, which was signed"},
		"a policy added": {repacked(t, whole, map[string]string{"q.rego": "package q\n"}), key,
			"q.rego not included in bundle signature"},
		"a readme added": {repacked(t, whole, map[string]string{"README": "hello"}), key,
			"README not included in bundle signature"},
		"a signature of nothing": {repacked(t, whole, map[string]string{".signatures.json": `{"signatures": []}`}), key, "missing JWT"},
		"a signature that is bad": {repacked(t, whole, map[string]string{".signatures.json": `{"signatures": ["a.b.c"]}`}), key,
			"its signature does not hold"},
		"no signature but words": {repacked(t, whole, map[string]string{".signatures.json": `sure`}), key, "its signature does not hold"},
		"a key that is gone":     {whole, &source.Key{File: by.public + ".gone", Algorithm: "ES256"}, "no such file"},
		"a key that is none":     {whole, &source.Key{File: "signature.go", Algorithm: "ES256"}, "its signature does not hold"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := fetched(t, c.text, c.key); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestASecretForSignaturesIsOne(t *testing.T) {
	by := newPair(t, "HS256")
	text := signed(t, by, house)
	must(t, os.Chmod(by.private, 0o644))
	if _, err := fetched(t, text, &source.Key{File: by.private, Algorithm: "HS256"}); err == nil ||
		!strings.Contains(err.Error(), "holds a secret") {
		t.Errorf("got %v", err)
	}
	must(t, os.Chmod(by.private, 0o600))
	must(t, os.WriteFile(by.private, nil, 0o600))
	if _, err := fetched(t, text, &source.Key{File: by.private, Algorithm: "HS256"}); err == nil ||
		!strings.Contains(err.Error(), "want at least 32") {
		t.Errorf("got %v", err)
	}
}

func TestABundleThatIsOfferedIsInForceOrChangesNothing(t *testing.T) {
	by := newPair(t, "ES256")
	p, err := fetched(t, signed(t, by, house), &source.Key{File: by.public, Algorithm: "ES256"})
	must(t, err)
	next := signed(t, by, map[string]string{"p.rego": timed(7), "p_test.rego": allowingTest})
	must(t, p.Offer(t.Context(), next))
	if seconds(p) != 7 || !p.Status().OK {
		t.Errorf("in force is %+v", p.Status())
	}
	for name, text := range map[string][]byte{
		"half of it":   next[:len(next)/2],
		"without test": signed(t, by, map[string]string{"p.rego": timed(9)}),
		"unsigned":     repacked(t, next, map[string]string{".signatures.json": ""}),
	} {
		var faults source.Faults
		if err := p.Offer(t.Context(), text); !errors.As(err, &faults) || seconds(p) != 7 || p.Status().OK {
			t.Errorf("%s: %v, in force is %+v", name, err, p.Status())
		}
	}
	must(t, p.Offer(t.Context(), next))
	if seconds(p) != 7 || !p.Status().OK {
		t.Errorf("in force is %+v", p.Status())
	}
}
