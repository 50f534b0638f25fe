package app

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// bundles is a server of one bundle, which wants a token.
type bundles struct {
	*httptest.Server
	folder string
	secret string
	down   atomic.Bool
}

func serveBundles(t *testing.T) *bundles {
	t.Helper()
	b := &bundles{folder: openDir(t)}
	b.secret = filepath.Join(b.folder, "secret")
	save(t, b.secret, rand.Text()+rand.Text())
	save(t, filepath.Join(b.folder, "token"), "let-me-have-the-policies")
	b.Server = httptest.NewServer(http.HandlerFunc(b.answer))
	t.Cleanup(b.Close)
	return b
}

func (b *bundles) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case b.down.Load():
		http.Error(w, "down", http.StatusNotFound)
	case r.Header.Get("Authorization") != "Bearer let-me-have-the-policies":
		http.Error(w, "who are you", http.StatusUnauthorized)
	default:
		text, err := os.ReadFile(filepath.Join(b.folder, "chat.tar.gz"))
		if err != nil {
			panic(err)
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))))
		http.ServeContent(w, r, "chat.tar.gz", time.Time{}, strings.NewReader(string(text)))
	}
}

// has builds the bundle of a generation, as stock OPA does.
func (b *bundles) has(t *testing.T, generation int, flags ...string) {
	t.Helper()
	folder := policyFolder(t)
	save(t, filepath.Join(folder, "house.rego"), rulesOf(generation))
	made := filepath.Join(b.folder, "made.tar.gz")
	command := exec.Command("go", append([]string{"tool", "opa", "build", "--bundle", folder, "--revision",
		fmt.Sprint("v", generation), "--output", made}, flags...)...)
	if printed, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the bundle: %v\n%s", err, printed)
	}
	must(t, os.Rename(made, filepath.Join(b.folder, "chat.tar.gz")))
}

func (b *bundles) signing() []string {
	return []string{"--signing-alg", "HS256", "--signing-key", b.secret}
}

func (b *bundles) sections() []string {
	return []string{"backends: {bubblewrap: {}}", fmt.Sprintf(
		"policies: {bundle: {url: %q, poll: 1s, token: {file: %q}, key: {file: %q, algorithm: HS256}}}", b.URL+"/chat.tar.gz",
		filepath.Join(b.folder, "token"), b.secret)}
}

// awaitPolicies waits until what is told of the policies is so.
func awaitPolicies(t *testing.T, s *running, what string, so func(api.Status) bool) api.Status {
	t.Helper()
	var status api.Status
	awaittest.UntilOr(t, func() string { return fmt.Sprintf("%s: %+v, %v", what, status.Policies, status.Warnings) }, func() bool {
		var err error
		status, err = s.operators(t).Status(t.Context())
		must(t, err)
		return so(status)
	})
	return status
}

func (b *bundles) inForce(generation int) func(api.Status) bool {
	return func(s api.Status) bool {
		return s.Policies.Bundles[b.URL+"/chat.tar.gz"].Revision == fmt.Sprint("v", generation)
	}
}

func warned(s api.Status, of string) bool {
	return strings.Contains(strings.Join(s.Warnings, "\n"), of)
}

func TestPoliciesComeFromABundleServerAndOutliveIt(t *testing.T) {
	t.Parallel()
	b := serveBundles(t)
	b.has(t, 1, b.signing()...)
	folder := openDir(t)
	s, err := tryStart(t, folder, b.sections()...)
	must(t, err)
	awaitPolicies(t, s, "the first bundle", b.inForce(1))
	kept := filepath.Join(folder, "state/policies/bundle.tar.gz")
	must(t, errors.Join(os.Remove(kept), os.Mkdir(kept, 0o700)))
	b.has(t, 2, b.signing()...)
	awaitPolicies(t, s, "the second bundle, which cannot be kept", func(s api.Status) bool {
		return b.inForce(2)(s) && warned(s, "a start without the bundle server would lack the last good bundle, which cannot be kept: ")
	})
	must(t, os.Remove(kept))
	awaitPolicies(t, s, "the second bundle, kept", func(s api.Status) bool { return !warned(s, "cannot be kept") })

	b.has(t, 3) // which nobody signed
	status := awaitPolicies(t, s, "an unsigned bundle", func(s api.Status) bool {
		return !s.Policies.OK && warned(s, "it is not signed, and policies.bundle.key says by what it must be")
	})
	if !b.inForce(2)(status) {
		t.Errorf("in force is %+v, with the warnings %q", status.Policies, status.Warnings)
	}
	s.stop()

	b.down.Store(true)
	if s, err = tryStart(t, folder, b.sections()...); err != nil {
		t.Fatal(err)
	}
	status = awaitPolicies(t, s, "a start without the server", func(api.Status) bool { return true })
	if !b.inForce(2)(status) || !warned(status,
		"the bundle server has not vouched for the policies in force since the start: the bundle server answered 404") {
		t.Errorf("in force is %+v, with the warnings %q", status.Policies, status.Warnings)
	}
	b.has(t, 4, b.signing()...)
	b.down.Store(false)
	status = awaitPolicies(t, s, "a server that is back", b.inForce(4))
	if awaitPolicies(t, s, "no fault", func(s api.Status) bool { return !warned(s, "bundle server") }); !status.Policies.OK {
		t.Errorf("in force is %+v", status.Policies)
	}
	history, err := s.operators(t).Revisions(t.Context())
	if err != nil || len(history) != 3 || history[0].Way != "bundle" {
		t.Errorf("the history is %+v, %v", history, err)
	}
}

func TestAStartWithARollbackAndABadBundleKeepsTheLastGoodBundle(t *testing.T) {
	t.Parallel()
	b := serveBundles(t)
	b.has(t, 1, b.signing()...)
	folder := openDir(t)
	s, err := tryStart(t, folder, b.sections()...)
	must(t, err)
	must(t, s.policies.RollBack(t.Context(), api.Rollback{Revision: s.policies.Revision(), By: "ana"}, anyhow))
	s.stop()
	b.has(t, 2) // which nobody signed
	if s, err = tryStart(t, folder, b.sections()...); err != nil {
		t.Fatal(err)
	}
	status := awaitPolicies(t, s, "a bundle that is refused", func(s api.Status) bool { return warned(s, "it is not signed") })
	if !b.inForce(1)(status) || status.Policies.RolledBack == nil {
		t.Errorf("in force is %+v, with the warnings %q", status.Policies, status.Warnings)
	}
	s.stop()
	b.down.Store(true)
	if s, err = tryStart(t, folder, b.sections()...); err != nil {
		t.Fatal(err)
	}
	if err := s.policies.Resume(t.Context(), func() error { return nil }); err != nil {
		t.Errorf("the end of the rollback with the bundle that was kept says %v", err)
	}
}

func TestABundleServerVouchesForNothingThatIsRolledBack(t *testing.T) {
	t.Parallel()
	b := serveBundles(t)
	b.has(t, 1, b.signing()...)
	folder := openDir(t)
	s, err := tryStart(t, folder, b.sections()...)
	must(t, err)
	const never = "bailiff_policy_bundle_last_success_timestamp_seconds 0\n"
	if strings.Contains(page(s), never) {
		t.Error("it never vouched for what is in force")
	}
	must(t, s.policies.RollBack(t.Context(), api.Rollback{Revision: s.policies.Revision(), By: "ana"}, anyhow))
	s.stop()
	if s, err = tryStart(t, folder, b.sections()...); err != nil {
		t.Fatal(err)
	}
	if s.source.Status().Confirmed.IsZero() || !strings.Contains(page(s), never) {
		t.Errorf("it vouched for what is rolled back to:\n%s", page(s))
	}
	must(t, s.policies.Resume(t.Context(), func() error { return nil }))
	awaittest.Until(t, "the server to vouch for what is in force", func() bool { return !strings.Contains(page(s), never) })
}

func anyhow(api.Rollback) error { return nil }

func page(s *running) string {
	shown := httptest.NewRecorder()
	s.page.ServeHTTP(shown, httptest.NewRequest("GET", "/metrics", nil))
	return shown.Body.String()
}

func TestABundleThatWasKeptIsCheckedAsOneThatJustCame(t *testing.T) {
	t.Parallel()
	b := serveBundles(t)
	b.has(t, 1, b.signing()...)
	folder := openDir(t)
	s, err := tryStart(t, folder, b.sections()...)
	must(t, err)
	s.stop()
	b.down.Store(true)
	b.has(t, 2) // not signed
	text, err := os.ReadFile(filepath.Join(b.folder, "chat.tar.gz"))
	must(t, err)
	save(t, filepath.Join(folder, "state/policies/bundle.tar.gz"), string(text))
	kept := filepath.Join(folder, "state/policies/bundle.tar.gz")
	if _, err := tryStart(t, folder, b.sections()...); err == nil ||
		!strings.Contains(err.Error(), kept+": it is not signed") || !strings.Contains(err.Error(), "answered 404") {
		t.Errorf("the start says %v", err)
	}
	save(t, kept, "x"+string(text))
	if _, err := tryStart(t, folder, b.sections()...); err == nil ||
		!strings.Contains(err.Error(), kept+": this is no bundle") ||
		!strings.Contains(err.Error(), "or put the one of a backup in its place") {
		t.Errorf("with a damaged bundle the start says %v", err)
	}
}
