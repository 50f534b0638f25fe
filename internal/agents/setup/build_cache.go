package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
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
	if s.Backend != "bubblewrap" || !settings.Exists(filepath.Join(s.Project, "go.mod")) || s.shows(buildCacheInside) {
		return ""
	}
	return s.buildCacheFolder()
}

func (s *Survey) appendBuildCache(doc *yamledit.Document, path []string) error {
	return doc.Append(map[string]any{"source": s.BuildCache, "target": buildCacheInside, "read_only": false}, path...)
}

// MakeBuildCache makes the folder where a row shows it, or will. A new one gets a copy of the standard library from the host's
// build cache, if that has it: nothing of the user's projects. A copy that was not completed is completed the next time. The
// error says why it is not, which costs time only.
func (s *Survey) MakeBuildCache(ctx context.Context, a Answers) error {
	folder := s.buildCacheFolder()
	unfinished := folder + ".unfinished" // beside the folder, where no command reaches it
	if settings.Exists(folder) && !settings.Exists(unfinished) || (s.BuildCache == "" || !a.ShareBuildCache) && !s.shows(buildCacheInside) {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(folder), 0o700)
	if err = errors.Join(err, os.WriteFile(unfinished, nil, 0o600), os.MkdirAll(folder, 0o700)); err != nil {
		return fmt.Errorf("making the build cache of sandboxes: %w", err)
	}
	if err := s.fillBuildCache(ctx, folder); err != nil {
		return err
	}
	return os.Remove(unfinished)
}

func (s *Survey) fillBuildCache(ctx context.Context, folder string) error {
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
func (s *Survey) HasBuildCache() bool { return settings.Exists(s.buildCacheFolder()) }

// copyPatience bounds how long the copy takes: without it the first command compiles, which takes longer.
const copyPatience = 30 * time.Second

// goPrograms are those that commands in a sandbox find, in this order.
var goPrograms = []string{"/usr/local/go/bin/go", "/usr/local/bin/go", "/usr/bin/go"}

// standardOutputs are the names, in a build cache of the host, of what is compiled there of the standard library. Nothing is compiled
// for it: that takes as long here as in the sandbox.
func (s *Survey) standardOutputs(ctx context.Context, cache string) (map[string]bool, error) {
	at := slices.IndexFunc(goPrograms, settings.Exists)
	if at < 0 || !settings.Exists(cache) {
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

// copyOutputs copies outputs of a build cache into another, with the entries that name them. Commands may have written the other
// one before, so nothing is followed out of it.
func copyOutputs(ctx context.Context, from, into string, outputs map[string]bool) error {
	to, err := os.OpenRoot(into)
	if err != nil {
		return fmt.Errorf("opening the build cache of sandboxes: %w", err)
	}
	defer to.Close()
	entries, err := filepath.Glob(filepath.Join(from, "[0-9a-f][0-9a-f]", "*-a"))
	for _, entry := range entries {
		if err != nil || ctx.Err() != nil {
			break
		}
		err = copyEntry(from, to, entry, outputs)
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("copying the compiled standard library: %w", err)
	}
	return nil
}

// copyEntry copies an entry, after its output, if both are whole. Those that are not are misses to Go, too.
func copyEntry(from string, to *os.Root, entry string, outputs map[string]bool) error {
	text, err := os.ReadFile(entry)
	fields := strings.Fields(string(text)) // a version, the action, the output's hash, its size and a time
	if err != nil || len(fields) != 5 || !outputs[fields[2]] || filepath.Base(entry) != fields[1]+"-a" {
		return nil
	}
	name := fields[2] + "-d"
	output, err := os.ReadFile(filepath.Join(from, name[:2], name))
	if err != nil || fmt.Sprintf("%x", sha256.Sum256(output)) != fields[2] {
		return nil
	}
	if err := putFile(to, name, output); err != nil {
		return err
	}
	return putFile(to, filepath.Base(entry), text)
}

// putFile writes a file of a build cache whole or not at all. One that is there stays.
func putFile(to *os.Root, name string, text []byte) error {
	path := filepath.Join(name[:2], name)
	if _, err := to.Lstat(path); err == nil {
		return nil
	}
	if err := to.MkdirAll(name[:2], 0o700); err != nil {
		return err
	}
	part := path + ".part"
	if err := to.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := to.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return to.Rename(part, path)
}
