package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// compileInto is a build cache with one entry for each output.
func compileInto(t *testing.T, cache string, outputs ...string) {
	t.Helper()
	for i, output := range outputs {
		action := strings.Repeat(string(rune('a'+i)), 64)
		for name, text := range map[string]string{
			filepath.Join(action[:2], action+"-a"): "v1 " + action + " " + output + "   4 1790000000000000000\n",
			filepath.Join(output[:2], output+"-d"): "text",
		} {
			backendtest.Must(t, os.MkdirAll(filepath.Join(cache, filepath.Dir(name)), 0o755))
			backendtest.Must(t, os.WriteFile(filepath.Join(cache, name), []byte(text), 0o600))
		}
	}
}

func TestOfTheBuildCacheOfTheHostTheStandardLibraryIsCopied(t *testing.T) {
	from, into := t.TempDir(), t.TempDir()
	own, users := strings.Repeat("1", 64), strings.Repeat("2", 64)
	compileInto(t, from, own, users)
	backendtest.Must(t, os.WriteFile(filepath.Join(from, "aa", "broken-a"), []byte("v1"), 0o600))
	if err := copyOutputs(t.Context(), from, into, map[string]bool{own: true}); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(into, "*", "*"))
	backendtest.Must(t, err)
	want := []string{filepath.Join(into, "11", own+"-d"), filepath.Join(into, "aa", strings.Repeat("a", 64)+"-a")}
	if !slices.Equal(found, want) {
		t.Errorf("copied are %q, want %q", found, want)
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
	if !s.HasBuildCache() || !isThere(filepath.Join(s.BuildCache, "README")) {
		t.Error("a folder that is there was made anew")
	}
}

func TestOfTheStandardLibraryIsCopiedWhatTheHostHasCompiled(t *testing.T) {
	at := slices.IndexFunc(goPrograms, isThere)
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
