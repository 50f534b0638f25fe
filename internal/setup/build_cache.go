package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/yamledit"
)

// buildCacheInside is where Go has its build cache in a sandbox of bubblewrap.
const buildCacheInside = "/home/.cache/go-build"

// buildCacheFolder is the folder of this machine that sandboxes show there, so that a new session need not compile the standard
// library again, which takes minutes. Go on the host never reads it. Go checks nothing of what it finds in its build cache, so
// that a session which changes it has a part in all that later ones build: only a person's yes has sessions share one.
func (s *Survey) buildCacheFolder() string {
	return filepath.Join(s.in.Home, ".local", "share", "bailiff", "go-build")
}

// buildCache is that folder, if the project needs it and no row shows one yet.
func (s *Survey) buildCache() string {
	if s.Backend != "bubblewrap" || !isThere(filepath.Join(s.Project, "go.mod")) || s.shows(buildCacheInside) {
		return ""
	}
	return s.buildCacheFolder()
}

func (s *Survey) appendBuildCache(doc *yamledit.Document, path []string) error {
	return doc.Append(map[string]any{"source": s.BuildCache, "target": buildCacheInside, "read_only": false}, path...)
}

// MakeBuildCache makes the folder where a row shows it, or will. A new one gets a copy of the standard library from the host's
// build cache, if that has it: nothing of the user's projects. The error says why there is no copy, which costs time only.
func (s *Survey) MakeBuildCache(ctx context.Context, a Answers) error {
	folder := s.buildCacheFolder()
	if isThere(folder) || (s.BuildCache == "" || !a.ShareBuildCache) && !s.shows(buildCacheInside) {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the build cache of sandboxes: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	caches := cmp.Or(s.in.Getenv("XDG_CACHE_HOME"), filepath.Join(s.in.Home, ".cache"))
	cache := cmp.Or(s.in.Getenv("GOCACHE"), filepath.Join(caches, "go-build"))
	outputs, err := s.standardOutputs(ctx, cache)
	if err != nil || len(outputs) == 0 {
		return err
	}
	return copyOutputs(ctx, cache, folder, outputs)
}

// HasBuildCache says whether the folder can be shown.
func (s *Survey) HasBuildCache() bool { return isThere(s.buildCacheFolder()) }

// copyPatience bounds how long the copy takes: without it the first command compiles, which takes longer.
const copyPatience = 30 * time.Second

// goPrograms are those that commands in a sandbox find, in this order.
var goPrograms = []string{"/usr/local/go/bin/go", "/usr/local/bin/go", "/usr/bin/go"}

// standardOutputs are the names, in a build cache of the host, of what is compiled there of the standard library. Nothing is compiled
// for it: that takes as long here as in the sandbox.
func (s *Survey) standardOutputs(ctx context.Context, cache string) (map[string]bool, error) {
	at := slices.IndexFunc(goPrograms, isThere)
	if at < 0 || !isThere(cache) {
		return nil, nil
	}
	list := func(words ...string) ([]string, error) { return s.list(ctx, goPrograms[at], cache, words...) }
	compiled, err := list("-f", "{{if not .Stale}}{{.ImportPath}}{{end}}", "std")
	if err != nil || len(compiled) == 0 {
		return nil, err
	}
	exports, err := list(append([]string{"-export", "-f", "{{.Export}}"}, compiled...)...)
	outputs := map[string]bool{}
	for _, path := range exports {
		if name, ok := strings.CutSuffix(filepath.Base(path), "-d"); ok {
			outputs[name] = true
		}
	}
	return outputs, err
}

// list is what "go list" says, a word for each package.
func (s *Survey) list(ctx context.Context, program, cache string, words ...string) ([]string, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"list"}, words...)...)
	cmd.Dir, cmd.WaitDelay = "/", time.Second // where no file of a project says anything
	cmd.Env = []string{"HOME=" + s.in.Home, "PATH=/usr/local/bin:/usr/bin:/bin", "GOCACHE=" + cache, "GOENV=off", "GOWORK=off",
		"GOTOOLCHAIN=local"}
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("finding the compiled standard library: %w", err)
	}
	return strings.Fields(string(said)), nil
}

// copyOutputs copies outputs of a build cache into another, with the entries that name them.
func copyOutputs(ctx context.Context, from, into string, outputs map[string]bool) error {
	entries, err := filepath.Glob(filepath.Join(from, "[0-9a-f][0-9a-f]", "*-a"))
	for _, entry := range entries {
		if err != nil || ctx.Err() != nil {
			break
		}
		text, unread := os.ReadFile(entry)
		fields := strings.Fields(string(text)) // a version, the action, its output, a size and a time
		if unread != nil || len(fields) < 3 || !outputs[fields[2]] || len(fields[2]) < 2 {
			continue
		}
		output := filepath.Join(fields[2][:2], fields[2]+"-d")
		if err = copyFile(filepath.Join(from, output), filepath.Join(into, output)); err == nil {
			err = copyFile(entry, filepath.Join(into, filepath.Base(filepath.Dir(entry)), filepath.Base(entry)))
		}
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("copying the compiled standard library: %w", err)
	}
	return nil
}

func copyFile(from, into string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(into), 0o700); err != nil {
		return err
	}
	return os.WriteFile(into, text, 0o600)
}
