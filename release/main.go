// Command release makes what a release of bailiff consists of, in one folder: for each
// platform a tarball, packages for Debian and for distributions with RPM, a container
// image and a bill of materials; checksums of all, and their signature.
//
// Promised is that the same source, version and date give the same bytes, in whichever
// folder and whenever they are made. So nothing here asks for the time, the machine's
// name or the order of a folder: the date is SOURCE_DATE_EPOCH, or that of the commit.
//
// It is a module of its own, so that what makes packages is no dependency of bailiff.
// Not here: publishing, which is .github/workflows/release.yaml.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// architectures are those of Linux for which a release has files.
var architectures = []string{"amd64", "arm64"}

// release is one release, and where its files are made.
type release struct {
	version string // such as 1.2.3, without a "v"
	date    time.Time
	source  string // the repository
	work    string // what is thrown away afterwards
	out     string
	told    io.Writer // hears what takes long
}

func main() {
	version := flag.String("version", "", "the release's `version`, such as 1.2.3")
	out := flag.String("out", "dist", "the `folder` for the files, relative to the repository; it is made anew")
	key := flag.String("sign", "", "an ssh private `key` that signs the checksums")
	only := flag.String("arch", strings.Join(architectures, ","), "the architectures, separated by commas")
	flag.Parse()
	if err := run(*version, *out, *key, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, out, key string, only []string) error {
	r, err := prepare(version, out)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, arch := range append([]string{runtime.GOARCH}, only...) { // this machine's describes itself, in manual pages
		if err := r.compile(arch); err != nil {
			return err
		}
	}
	if err := r.describe(); err != nil {
		return err
	}
	for _, arch := range only {
		if err := r.pack(arch); err != nil {
			return fmt.Errorf("packing for %s: %w", arch, err)
		}
	}
	if err := r.sum(); err != nil {
		return err
	}
	return r.sign(key)
}

var semantic = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?)$`)

// prepare finds out what the release is, and makes its folder anew.
func prepare(version, out string) (*release, error) {
	parts := semantic.FindStringSubmatch(version)
	if parts == nil {
		return nil, fmt.Errorf("the version %q is none; say which, such as VERSION=1.2.3 or 1.2.3-rc.1", version)
	}
	source, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	date, err := dateOf(source)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(source, out)
	}
	work, err := os.MkdirTemp("", "bailiff-release-")
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)) //nolint:gosec // is published
	return &release{version: parts[1], date: date, source: source, work: work, out: out, told: os.Stderr}, err
}

// dateOf is the date that everything in the release has.
func dateOf(source string) (time.Time, error) {
	said := os.Getenv("SOURCE_DATE_EPOCH")
	if said == "" {
		printed, err := exec.Command("git", "-C", source, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("asking git for the commit's date: %w; set SOURCE_DATE_EPOCH", err)
		}
		said = strings.TrimSpace(string(printed))
	}
	seconds, err := strconv.ParseInt(said, 10, 64)
	if err != nil || seconds <= 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want the seconds since 1970", said)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// programs is the folder with the programs for an architecture.
func (r *release) programs(arch string) string { return filepath.Join(r.work, "bin", arch) }

// documents is the folder with what bailiff says of itself: manual pages and completions.
func (r *release) documents() string { return filepath.Join(r.work, "doc") }

// name is a file of the release for an architecture.
func (r *release) name(arch, kind string) string {
	return filepath.Join(r.out, "bailiff_"+r.version+"_linux_"+arch+"."+kind)
}
