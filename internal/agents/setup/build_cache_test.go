package setup

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// compileInto is a build cache with one entry for each text that was compiled, and returns the names of the outputs.
func compileInto(t *testing.T, cache string, texts ...string) (outputs []string) {
	t.Helper()
	for i, text := range texts {
		action, output := strings.Repeat(string(rune('a'+i)), 64), fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		for name, text := range map[string]string{
			filepath.Join(action[:2], action+"-a"): fmt.Sprintf("v1 %s %s %20d %20d\n", action, output, len(text), 1790000000000000000),
			filepath.Join(output[:2], output+"-d"): text,
		} {
			backendtest.Must(t, os.MkdirAll(filepath.Join(cache, filepath.Dir(name)), 0o755))
			backendtest.Must(t, os.WriteFile(filepath.Join(cache, name), []byte(text), 0o600))
		}
		outputs = append(outputs, output)
	}
	return outputs
}

// filesIn are the files of a build cache.
func filesIn(t *testing.T, cache string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	backendtest.Must(t, err)
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	slices.Sort(found)
	return found
}

func TestOfTheBuildCacheOfTheHostTheStandardLibraryIsCopied(t *testing.T) {
	from, into := t.TempDir(), t.TempDir()
	outputs := compileInto(t, from, "own", "the user's", "torn")
	backendtest.Must(t, os.WriteFile(filepath.Join(from, "aa", "broken-a"), []byte("v1"), 0o600))
	backendtest.Must(t, os.WriteFile(filepath.Join(from, outputs[2][:2], outputs[2]+"-d"), []byte("to"), 0o600))
	backendtest.Must(t, copyOutputs(t.Context(), from, into, map[string]bool{outputs[0]: true, outputs[2]: true}))
	want := []string{outputs[0] + "-d", strings.Repeat("a", 64) + "-a"}
	slices.Sort(want)
	if found := filesIn(t, into); !slices.Equal(found, want) {
		t.Errorf("copied are %q, want %q", found, want)
	}
}

func TestACopyOfTheBuildCacheGoesOnWhereItWasInterrupted(t *testing.T) {
	from, into, outside := t.TempDir(), t.TempDir(), t.TempDir()
	outputs := compileInto(t, from, "one", "two")
	all := map[string]bool{outputs[0]: true, outputs[1]: true}
	half := filepath.Join(into, outputs[0][:2], outputs[0]+"-d.part")
	backendtest.Must(t, os.MkdirAll(filepath.Dir(half), 0o755))
	backendtest.Must(t, os.Symlink(filepath.Join(outside, "written"), half)) // as a command may have left it
	backendtest.Must(t, copyOutputs(t.Context(), from, into, all))
	if found := filesIn(t, into); !slices.Equal(found, filesIn(t, from)) || settings.Exists(filepath.Join(outside, "written")) {
		t.Errorf("after an interrupted copy there is %q, want %q", found, filesIn(t, from))
	}

	into = t.TempDir()
	backendtest.Must(t, os.Symlink(outside, filepath.Join(into, "aa")))
	err := copyOutputs(t.Context(), from, into, all)
	if left, _ := os.ReadDir(outside); err == nil || len(left) > 0 {
		t.Errorf("through a link there was written %v, %v", left, err)
	}
}

func TestTheBuildCacheIsMadeOnceAndStaysEmptyWhereTheHostHasNone(t *testing.T) {
	home := t.TempDir()
	s := &Survey{in: Config{Home: home, Getenv: func(string) string { return "" }}}
	s.BuildCache = s.buildCacheFolder()
	backendtest.Must(t, s.MakeBuildCache(t.Context(), Answers{ShareBuildCache: true}))
	left, err := os.ReadDir(s.BuildCache)
	if err != nil || len(left) > 0 {
		t.Errorf("in the folder is %v, %v", left, err)
	}
	backendtest.Must(t, os.WriteFile(filepath.Join(s.BuildCache, "README"), nil, 0o600))
	backendtest.Must(t, s.MakeBuildCache(t.Context(), Answers{ShareBuildCache: true}))
	if !s.HasBuildCache() || !settings.Exists(filepath.Join(s.BuildCache, "README")) {
		t.Error("a folder that is there was made anew")
	}
}

func TestABuildCacheThatWasNotCompletedIsCompletedTheNextTime(t *testing.T) {
	at := slices.IndexFunc(goPrograms, settings.Exists)
	if at < 0 {
		backendtest.Needs(t, "GO IN ONE OF "+strings.Join(goPrograms, ", "), os.ErrNotExist)
	}
	home, cache := t.TempDir(), t.TempDir()
	s := &Survey{in: Config{Home: home, Getenv: func(name string) string { return map[string]string{"GOCACHE": cache}[name] }}}
	s.BuildCache = s.buildCacheFolder()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := s.MakeBuildCache(stopped, Answers{ShareBuildCache: true}); err == nil || !s.HasBuildCache() {
		t.Fatalf("an interrupted copy says %v", err)
	}
	build := exec.Command(goPrograms[at], "build", "unicode/utf8")
	build.Dir, build.Env = "/", []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "GOCACHE=" + cache, "GOTOOLCHAIN=local"}
	backendtest.Must(t, build.Run())
	backendtest.Must(t, s.MakeBuildCache(t.Context(), Answers{ShareBuildCache: true}))
	if found := filesIn(t, s.BuildCache); len(found) != 2 {
		t.Errorf("after the next time there is %q", found)
	}
}

func TestOfTheStandardLibraryIsCopiedWhatTheHostHasCompiled(t *testing.T) {
	at := slices.IndexFunc(goPrograms, settings.Exists)
	if at < 0 {
		backendtest.Needs(t, "GO IN ONE OF "+strings.Join(goPrograms, ", "), os.ErrNotExist)
	}
	home, cache := t.TempDir(), t.TempDir()
	run := func(words ...string) string {
		cmd := exec.Command(goPrograms[at], words...)
		cmd.Dir, cmd.Env = "/", []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "GOCACHE=" + cache, "GOTOOLCHAIN=local"}
		said, err := cmd.CombinedOutput()
		backendtest.Must(t, err)
		return strings.TrimSpace(string(said))
	}
	run("build", "unicode/utf8")
	s := &Survey{in: Config{Home: home, Getenv: func(name string) string { return map[string]string{"GOCACHE": cache}[name] }}}
	s.BuildCache = s.buildCacheFolder()
	backendtest.Must(t, s.MakeBuildCache(t.Context(), Answers{ShareBuildCache: true}))
	found, err := filepath.Glob(filepath.Join(s.BuildCache, "*", "*-d"))
	if want := filepath.Base(run("list", "-export", "-f", "{{.Export}}", "unicode/utf8")); err != nil || len(found) != 1 ||
		filepath.Base(found[0]) != want {
		t.Errorf("copied are %q, %v, want %s", found, err, want)
	}
	if run("list", "-f", "{{.Stale}}", "fmt") != "true" {
		t.Error("the host compiled more for it")
	}
}
