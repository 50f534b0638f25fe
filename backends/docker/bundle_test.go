package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func folder(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, h := range headers {
		backendtest.Must(t, w.WriteHeader(&h))
		_, err := w.Write(make([]byte, h.Size))
		backendtest.Must(t, err)
	}
	backendtest.Must(t, w.Close())
	return &archive
}

func TestOfAFolderOfCertificatesTheBundleAloneBecomesALink(t *testing.T) {
	made, err := linked(folder(t, tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755},
		tar.Header{Typeflag: tar.TypeReg, Name: "./all.crt", Size: 7, Mode: 0o644},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./1.0", Linkname: "one.pem"},
		tar.Header{Typeflag: tar.TypeLink, Name: "./same.crt", Linkname: "java/all.crt"},
		tar.Header{Typeflag: tar.TypeReg, Name: "./java/all.crt", Size: 3, Mode: 0o644}), "at/", "all.crt")
	backendtest.Must(t, err)
	got := map[string]string{}
	for r := tar.NewReader(made); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		backendtest.Must(t, err)
		got[h.Name] = h.Linkname
	}
	want := map[string]string{"at/./": "", "at/all.crt.image": "", "at/1.0": "one.pem", "at/same.crt": "at/java/all.crt",
		"at/java/all.crt": "", "at/all.crt": wire.TrustBundle}
	if !maps.Equal(got, want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

func TestAFolderOfCertificatesThatIsTooLargeIsNotCopied(t *testing.T) {
	large := tar.Header{Typeflag: tar.TypeReg, Name: "all.crt", Size: largestTrust, Mode: 0o644}
	if _, err := linked(folder(t, large), "", "all.crt"); !errors.Is(err, errTooLarge) {
		t.Errorf("the error is %v, want that it is too large", err)
	}
}
