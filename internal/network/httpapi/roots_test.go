package httpapi

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestWhoAnswersIsVouchedForByTheRootsThatAreNamed(t *testing.T) {
	t.Parallel()
	at := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write([]byte("{}"))
	}))
	defer at.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: at.Certificate().Raw})
	must(t, os.WriteFile(file, text, 0o600))
	for path, want := range map[string]string{file: "", "": "certificate"} {
		roots, err := Roots(path)
		must(t, err)
		var heard string
		err = New(Config{Name: "Acme", Roots: roots}).Do(t.Context(), Call{Method: http.MethodGet, Address: at.URL,
			Heard: func(h http.Header) { heard = h.Get("ETag") }})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || (heard == `"1"`) != (want == "") {
			t.Errorf("with the roots %q it came to %v, heard was %q", path, err, heard)
		}
	}
	asked := 0
	unsure := New(Config{Name: "Acme", Credential: func() (bailiff.Secret, error) { asked++; return bailiff.Secret{}, nil }})
	if err := unsure.Do(t.Context(), Call{Method: http.MethodGet, Address: at.URL, Idempotent: true}); err == nil || asked != 1 {
		t.Errorf("who is not vouched for is asked %d times, %v", asked, err)
	}
	must(t, os.WriteFile(file, []byte("hello"), 0o600))
	for _, path := range []string{file, file + ".none"} {
		if _, err := Roots(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("the roots of %s: %v", path, err)
		}
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
