package apptainer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// A SIF file of the stand-in's begins as a real one, and where the real ones have their
// root it has one too.
const rootAt = 36864

const sifHeader = "#!/usr/bin/env run-singularity\n\x00SIF_MAGIC\x0001\x00"

// writeSIF packs a folder.
func writeSIF(folder, path string) error {
	packed := path + ".squashfs"
	defer os.Remove(packed)
	pack := exec.Command("mksquashfs", folder, packed, "-noI", "-noD", "-noF", "-noX", "-quiet", "-no-progress", "-all-root")
	if out, err := pack.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	content, err := os.ReadFile(packed)
	if err != nil {
		return err
	}
	head := make([]byte, rootAt)
	copy(head, sifHeader)
	return os.WriteFile(path, append(head, content...), 0o755)
}

func listSIF(g given) {
	if len(g.words) != 1 {
		unrecorded("a list of %d files", len(g.words))
	}
	form := "sif list <sif_path>"
	content, err := os.ReadFile(g.words[0])
	switch {
	case err != nil:
		usage("list", err.Error(), form)
	case len(content) < rootAt:
		usage("list", "reading global header: unexpected EOF", form)
	case !strings.HasPrefix(string(content[:len(sifHeader)]), sifHeader):
		unrecorded("a file as large that is no SIF file")
	}
	said := strings.Join(recordedAnswer("what a SIF file holds").Said, "\n")
	for _, part := range []string{"32176-32218", "32218-34420", fmt.Sprintf("%d-%d", rootAt, len(content))} {
		said = strings.Replace(said, "FROM-TO", part, 1)
	}
	fmt.Println(strings.ReplaceAll(said, "amd64", runtime.GOARCH))
	os.Exit(0)
}

// newRoot makes the root of an image: the few files of /etc that programs need, and
// the machine's programs.
func newRoot(t testing.TB, folder string) {
	t.Helper()
	for _, name := range []string{"usr", "etc", "dev", "proc", "sys", "tmp", "var/tmp", "home", "root", "run"} {
		backendtest.Must(t, os.MkdirAll(filepath.Join(folder, name), 0o755))
	}
	backendtest.Must(t, os.Chmod(filepath.Join(folder, "root"), 0o700))
	for _, name := range []string{"bin", "sbin", "lib", "lib64", "lib32", "libx32"} {
		if to, err := os.Readlink("/" + name); err == nil {
			backendtest.Must(t, os.Symlink(strings.TrimPrefix(to, "/"), filepath.Join(folder, name)))
		}
	}
	for _, name := range []string{"ld.so.cache", "nsswitch.conf", "alternatives"} {
		if out, err := exec.Command("cp", "-a", "/etc/"+name, filepath.Join(folder, "etc", name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, name := range []string{hostsUser, "etc/passwd", "etc/group", "etc/hosts", "etc/hostname", "etc/resolv.conf"} {
		backendtest.Must(t, os.WriteFile(filepath.Join(folder, name), nil, 0o644))
	}
}

// standInField is a field for calls of the stand-in.
func standInField(t *testing.T) field {
	t.Helper()
	needRoot(t)
	f := newField(t, newStandIn(t))
	f.sif, f.image, f.static = standInImage(t), filepath.Join(f.work, "root"), filepath.Join(f.work, "static")
	newRoot(t, f.image)
	copied(t, backendtest.Runner(t), f.static)
	return f
}

// standInImage is a SIF file for the stand-in.
func standInImage(t testing.TB) string {
	t.Helper()
	needSquash(t)
	folder, path := filepath.Join(t.TempDir(), "root"), filepath.Join(t.TempDir(), "image.sif")
	newRoot(t, folder)
	backendtest.Must(t, writeSIF(folder, path))
	return path
}

func needSquash(t testing.TB) {
	t.Helper()
	_, err := exec.LookPath("mksquashfs")
	backendtest.Needs(t, "SQUASHFS-TOOLS", err)
}

func needRoot(t testing.TB) {
	t.Helper()
	var fault error
	if os.Getuid() != 0 {
		fault = errors.New("this user is another")
	}
	backendtest.Needs(t, "ROOT", fault)
}

func TestTheStandInAnswersAsTheRealProgramDid(t *testing.T) { standInField(t).compare(t) }

// pull fetches an image of one layer from a registry and packs it.
func pull(g given) {
	if n := len(g.words); n < 1 || n > 2 {
		usage("pull", fmt.Sprintf("accepts between 1 and 2 arg(s), received %d", n), "pull [pull options...] [output file] <URI>")
	}
	if len(g.words) == 1 || !g.has("--disable-cache") {
		unrecorded("a pull to nowhere, or by way of a cache")
	}
	into, uri := g.words[0], g.words[1]
	scheme, name, _ := strings.Cut(uri, "://")
	if _, err := os.Stat(into); err == nil {
		fatal("Image file already exists: %q - will not overwrite", into)
	}
	if scheme != "docker" {
		fatal("Unsupported transport type: %s", scheme)
	}
	failed := func(format string, args ...any) {
		fatal("While making image from oci registry: error fetching image to cache: failed to get checksum for %s: %s", uri,
			fmt.Sprintf(format, args...))
	}
	if file := g.last("--authfile"); file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			unrecorded("an authfile that is not there")
		}
		var any map[string]json.RawMessage
		if err := json.Unmarshal(content, &any); err != nil {
			failed("getting username and password: reading JSON file %q: unmarshaling JSON at %q: %v", file, file, err)
		}
	}
	host, rest, _ := strings.Cut(name, "/")
	repository, tag, _ := strings.Cut(rest, ":")
	base := "https://" + host + "/v2/"
	if _, err := fetch(base); err != nil {
		failed("pinging container registry %s: %v", host, err)
	}
	fmt.Fprintln(os.Stderr, "INFO:    Converting OCI blobs to SIF format")
	fmt.Fprintln(os.Stderr, "INFO:    Starting build...")
	var manifest struct {
		Layers []struct{ Digest string }
	}
	text, err := fetch(base + repository + "/manifests/" + tag)
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil || len(manifest.Layers) != 1 {
		failed("reading manifest %s in %s/%s: %v", tag, host, repository, err)
	}
	layer, err := fetch(base + repository + "/blobs/" + manifest.Layers[0].Digest)
	must(err)
	root, err := os.MkdirTemp(os.Getenv("APPTAINER_TMPDIR"), "bundle")
	must(err)
	unpack := exec.Command("tar", "-C", root, "-xz")
	unpack.Stdin = strings.NewReader(string(layer))
	must(unpack.Run())
	fmt.Fprintln(os.Stderr, "INFO:    Creating SIF file...")
	must(writeSIF(root, into))
	must(os.RemoveAll(root))
	os.Exit(0)
}

func fetch(url string) ([]byte, error) {
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return text, err
}
