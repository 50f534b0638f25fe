package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// date is a commit's.
var date = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// made is a release whose programs are small, with all that a real one has else.
func made(t *testing.T) *release {
	t.Helper()
	source, err := filepath.Abs("..")
	must(t, err)
	r := &release{version: "1.2.3", date: date, source: source, work: t.TempDir(), out: t.TempDir(), told: io.Discard}
	for _, p := range programs {
		must(t, write(filepath.Join(r.programs("arm64"), p.name), []byte("the program "+p.name)))
	}
	// A bill of materials is read from a program of Go's.
	must(t, os.Remove(filepath.Join(r.programs("arm64"), "bailiff")))
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, write(filepath.Join(r.programs("arm64"), "bailiff"), self))
	must(t, write(filepath.Join(r.documents(), "usr/share/man/man1/bailiff.1"), []byte(".TH BAILIFF 1\n")))
	for _, place := range shells {
		must(t, write(filepath.Join(r.documents(), place), []byte("# completion\n")))
	}
	must(t, r.pack("arm64"))
	must(t, r.sum())
	return r
}

func TestALongBuildIsAnnounced(t *testing.T) {
	var told bytes.Buffer
	r := &release{version: "1.2.3", source: t.TempDir(), work: t.TempDir(), told: &told} // where there is nothing to compile
	if err := r.compile("amd64"); err == nil || !strings.HasPrefix(told.String(), "compiling bailiff for amd64: ") {
		t.Errorf("before it compiles it says %q, %v", told.String(), err)
	}
	told.Reset()
	must(t, os.MkdirAll(r.programs("arm64"), 0o755))
	if err := r.compile("arm64"); err != nil || told.Len() > 0 {
		t.Errorf("of what is compiled already it says %q, %v", told.String(), err)
	}
}

func TestAReleaseMadeTwiceIsTheSameBytes(t *testing.T) {
	one := made(t)
	first, second := contents(t, one.out), contents(t, made(t).out)
	if len(first) != 6 || !maps.EqualFunc(first, second, bytes.Equal) {
		for name := range first {
			t.Logf("%s is the same: %v", name, bytes.Equal(first[name], second[name]))
		}
		t.Errorf("of %d files not all are the same", len(first))
	}
	t.Run("its tarball", func(t *testing.T) { theTarballHasAllThatAPackageInstalls(t, one) })
	t.Run("its image", func(t *testing.T) { theImageHoldsProgramsOnlyAndRunsAsAnOrdinaryUser(t, one) })
	t.Run("its bill of materials", func(t *testing.T) { theBillNamesWhatIsInTheProgram(t, one) })
	t.Run("its signature", func(t *testing.T) { aSignatureCountsForTheseChecksumsOnly(t, one) })
}

// The compiler is asked in two folders, with nothing kept from one to the other. It is
// the smallest program: the flags are the same for all.
func TestAProgramBuiltInAnotherFolderIsTheSameBytes(t *testing.T) {
	t.Parallel()
	var sums [2][sha256.Size]byte
	for i := range sums {
		source := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i), "bailiff")
		clone := exec.Command("sh", "-c", `mkdir -p "$1" && cd .. && git ls-files -z |
			tar --null -T - -cf - | tar -C "$1" -xf -`, "sh", source)
		if printed, err := clone.CombinedOutput(); err != nil {
			t.Fatalf("copying the source: %v\n%s", err, printed)
		}
		out := filepath.Join(t.TempDir(), "runner")
		build := buildCommand(source, "amd64", "1.2.3", programs[1].name, programs[1].flags, out)
		build.Env = append(build.Env, "GOCACHE="+t.TempDir())
		if printed, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building: %v\n%s", err, printed)
		}
		text, err := os.ReadFile(out)
		must(t, err)
		sums[i] = sha256.Sum256(text)
	}
	if sums[0] != sums[1] {
		t.Errorf("the programs differ: %x", sums)
	}
}

func theTarballHasAllThatAPackageInstalls(t *testing.T, r *release) {
	t.Helper()
	packed, err := os.Open(r.name("arm64", "tar.gz"))
	must(t, err)
	unpacked, err := gzip.NewReader(packed)
	must(t, err)
	modes := map[string]int64{}
	for tarred := tar.NewReader(unpacked); ; {
		header, err := tarred.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		modes[header.Name] = header.Mode
		if !header.ModTime.Equal(date) || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s is of %s and of user %d %q", header.Name, header.ModTime, header.Uid, header.Uname)
		}
	}
	for name, mode := range map[string]int64{"bin/bailiff": 0o755, "bin/bailiff-runner": 0o755, "bin/bailiff-hook": 0o755,
		"bin/bailiff-host": 0o755, "LICENSE": 0o644, "examples/systemd/bailiff.service": 0o644, "examples/bailiff.yaml": 0o644,
		"share/man/man1/bailiff.1.gz": 0o644, "share/bailiff/policies/decision.rego": 0o644,
		"share/bailiff/schemas/config.json": 0o644, "share/": 0o755} {
		if got, known := modes["bailiff-1.2.3/"+name]; !known || got != mode {
			t.Errorf("%s is there: %v, with mode %o", name, known, got)
		}
	}
}

func theImageHoldsProgramsOnlyAndRunsAsAnOrdinaryUser(t *testing.T, r *release) {
	t.Helper()
	image, err := tarball.ImageFromPath(r.name("arm64", "image.tar"), nil)
	must(t, err)
	config, err := image.ConfigFile()
	must(t, err)
	if config.Config.User != "10001:10001" || config.Architecture != "arm64" || !config.Created.Equal(date) ||
		!slices.Equal(config.Config.Entrypoint, []string{"/usr/local/bin/bailiff"}) {
		t.Errorf("its settings are %+v", config)
	}
	layers, err := image.Layers()
	must(t, err)
	var names []string
	for _, layer := range layers {
		text, err := layer.Uncompressed()
		must(t, err)
		for tarred := tar.NewReader(text); ; {
			header, err := tarred.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			names = append(names, header.Name)
		}
	}
	want := []string{"usr/", "usr/local/", "usr/local/bin/", "usr/local/bin/bailiff", "usr/local/bin/bailiff-host",
		"usr/local/bin/bailiff-runner"}
	if !slices.Equal(names, want) {
		t.Errorf("it holds %q", names)
	}
}

func TestTheImageIsTheDockerfiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../Dockerfile")
	must(t, err)
	for _, line := range []string{"bin/" + strings.Join([]string{inImage[0], inImage[2], inImage[1]}, " bin/") + " /usr/local/bin/\n",
		"\nUSER 10001:10001\n", `["/usr/local/bin/bailiff"]`, `["serve", "--config", "/etc/bailiff/bailiff.yaml"]`} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the Dockerfile lacks %q", line)
		}
	}
}

func theBillNamesWhatIsInTheProgram(t *testing.T, r *release) {
	t.Helper()
	text, err := os.ReadFile(r.name("arm64", "cdx.json"))
	must(t, err)
	var bill struct {
		BomFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	must(t, json.Unmarshal(text, &bill))
	if bill.BomFormat != "CycloneDX" || bill.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("it is a %s of %+v", bill.BomFormat, bill.Metadata.Component)
	}
	for _, name := range []string{"std", "github.com/google/go-containerregistry"} { // this test's, in bailiff's place
		if !slices.ContainsFunc(bill.Components, func(c struct{ Name, Version string }) bool { return c.Name == name && c.Version != "" }) {
			t.Errorf("it lacks %s", name)
		}
	}
}

func aSignatureCountsForTheseChecksumsOnly(t *testing.T, r *release) {
	t.Helper()
	folder := t.TempDir()
	key := filepath.Join(folder, "key")
	generate := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "releases", "-f", key)
	if printed, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	must(t, r.sign(key))
	public, err := os.ReadFile(key + ".pub")
	must(t, err)
	signers := filepath.Join(folder, "allowed_signers")
	must(t, os.WriteFile(signers, fmt.Appendf(nil, "releases namespaces=%q %s", namespace, public), 0o600))
	sums := filepath.Join(r.out, "checksums.txt")
	text, err := os.ReadFile(sums)
	must(t, err)
	for _, c := range []struct {
		text  []byte
		valid bool
	}{{text, true}, {bytes.ToUpper(text), false}} {
		verify := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "releases", "-n", namespace, "-s", sums+".sig")
		verify.Stdin = bytes.NewReader(c.text)
		if printed, err := verify.CombinedOutput(); (err == nil) != c.valid {
			t.Errorf("want valid: %v, ssh-keygen says %v\n%s", c.valid, err, printed)
		}
	}
}

func TestWhatIsNoReleaseIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ version, epoch, says string }{
		"no version":      {"", "1", "say which"},
		"a word":          {"latest", "1", "say which"},
		"a commit's name": {"v1.2.3+dirty", "1", "say which"},
		"no date":         {"1.2.3", "yesterday", "SOURCE_DATE_EPOCH"},
	} {
		t.Setenv("SOURCE_DATE_EPOCH", c.epoch)
		out := t.TempDir()
		if err := run(c.version, out, "", []string{runtime.GOARCH}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.says)
		}
	}
}

// contents are the files of a folder.
func contents(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		must(t, err)
		all[entry.Name()] = text
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
