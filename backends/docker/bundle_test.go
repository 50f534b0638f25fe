package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
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
		tar.Header{Typeflag: tar.TypeLink, Name: "./again.crt", Linkname: "./all.crt"},
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
		"at/again.crt": "at/all.crt.image", "at/java/all.crt": "", "at/all.crt": wire.TrustBundle}
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

// refusing is the test engine, of which one part is kept from callers.
func refusing(t *testing.T, refused func(*http.Request) bool) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = &http.Transport{DialContext: dialEngine(t)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused(r) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return "tcp://" + server.Listener.Addr().String()
}

func TestProgramsTrustByVariablesAloneWhereTheBundleHasNoPlace(t *testing.T) {
	for name, c := range map[string]struct {
		refused func(*http.Request) bool
		mounts  []bailiff.Mount
	}{
		"an engine that does not show files": {func(r *http.Request) bool {
			return r.Method == http.MethodHead && strings.HasSuffix(r.URL.Path, "/archive")
		}, nil},
		"a mount over the folder where the link leads": {nil,
			[]bailiff.Mount{{Source: "/usr/share", Target: wire.TrustFolder, ReadOnly: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := testBackend(t, func(cfg *Config) {
				if cfg.MountsAllowed = []string{"/usr/share"}; c.refused != nil {
					cfg.Host = refusing(t, c.refused)
				}
			})
			spec := testSpec(t)
			spec.Network, spec.Mounts = backends.Egress, c.mounts
			backendtest.Says(t, backendtest.Open(t, b, spec), "test -L /etc/ssl/certs/ca-certificates.crt || echo an own file",
				"an own file\n")
		})
	}
}

func TestARequestThatIsGivenUpLooksForNoCertificates(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Network = backends.Egress
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if shown, err := b.trust(ctx, spec, image.InspectResponse{ID: testImage}); err == nil {
		t.Errorf("it is shown %v", shown)
	}
}

// The next sidecar's programs find nothing in the way of what those of the first had open.
func TestProgramsThatKnowNoProxyFindNames(t *testing.T) {
	spec := testSpec(t)
	spec.Network = backends.Egress
	b := testBackend(t)
	first := backendtest.Open(t, b, spec)
	backendtest.FindsNames(t, first, backendtest.Open(t, b, spec))
	second := adopt(t, b, first.ID(), spec)
	t.Cleanup(func() { backendtest.NoError(t, second.Close(context.Background())) })
	backendtest.FindsNames(t, second, nil)
}
