package caches

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// us is the user of sandboxes in these tests.
var us = backends.User{UID: os.Geteuid(), GID: os.Getegid()}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// showing is the folder that is shown to a holder in a place of its home.
func showing(t *testing.T, c *Caches, at string, holder ...string) string {
	t.Helper()
	all, err := c.Show(holder, nil, us)
	must(t, err)
	for _, m := range all {
		if m.Target == "/home/"+at && !m.ReadOnly {
			return m.Source
		}
	}
	t.Fatalf("nothing is shown in %s", at)
	return ""
}

func TestEachHolderHasFoldersOfItsOwnAndFindsThemAgain(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	seen := map[string]bool{}
	for _, holder := range [][]string{{"ana", "/a"}, {"ana", "/b"}, {"ana", "/a", "/b"}, {"ben", "/a"}, {"ana/a"}} {
		folder := showing(t, c, ".cache/go-build", holder...)
		if seen[folder] || showing(t, c, ".cache/go-build", holder...) != folder {
			t.Errorf("%q has %s", holder, folder)
		}
		seen[folder] = true
	}
}

func TestEveryToolOfTheListHasAFolderOfNoOtherOne(t *testing.T) {
	t.Parallel()
	all := tools()
	for line := range strings.Lines(list) {
		if name, _, _ := strings.Cut(line, " "); name != "#" && !slices.ContainsFunc(all, func(t tool) bool { return t.name == name }) {
			t.Errorf("a line is not read: %s", line)
		}
	}
	for i, a := range all {
		if !filepath.IsLocal(a.name) || !filepath.IsLocal(a.path) || filepath.Clean(a.path) != a.path {
			t.Errorf("%+v names no folder", a)
		}
		for _, b := range all[:i] {
			if a.name == b.name || strings.HasPrefix(a.path+"/", b.path+"/") || strings.HasPrefix(b.path+"/", a.path+"/") {
				t.Errorf("%+v and %+v are in each other's way", a, b)
			}
		}
	}
}

func TestWhatASandboxShowsInThePlaceOfACacheStays(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	for _, target := range []string{"/home/go/pkg", "/home/go/pkg/mod/cache", "/home/go/pkg/mod"} {
		all, err := c.Show([]string{"ana"}, []bailiff.Mount{{Target: target}}, us)
		if err != nil || len(all) != len(tools())-1 {
			t.Errorf("beside %s there are %d folders, %v", target, len(all), err)
		}
	}
	if all, err := c.Show([]string{"ana"}, []bailiff.Mount{{Target: "/home"}}, us); err != nil || len(all) > 0 {
		t.Errorf("beside /home there are %v, %v", all, err)
	}
}

func TestWhereALinkOrAFileStandsNoCacheIsShown(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(dir, folder string) string{
		"all":        func(dir, _ string) string { return dir },
		"a holder's": func(_, folder string) string { return filepath.Dir(folder) },
		"a tool's":   func(_, folder string) string { return folder },
	} {
		for kind, put := range map[string]func(path string) error{
			"link":      func(path string) error { return os.Symlink(t.TempDir(), path) },
			"dead link": func(path string) error { return os.Symlink("/nonexistent", path) },
			"file":      func(path string) error { return os.WriteFile(path, nil, 0o600) },
		} {
			dir := filepath.Join(t.TempDir(), "caches")
			c := New(dir)
			path := at(dir, showing(t, c, ".cache/pip", "ana", "/a"))
			must(t, os.RemoveAll(path))
			must(t, put(path))
			_, err := c.Show([]string{"ana", "/a"}, nil, us)
			if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), path+" is no folder of uid") {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
		}
	}
}

func TestAFolderThatACommandClosedIsOpenAgain(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	folder := showing(t, c, ".npm/_cacache", "ana")
	must(t, os.Chmod(folder, 0))
	showing(t, c, ".npm/_cacache", "ana")
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("it is %v, %v", info.Mode(), err)
	}
}

// fill writes a file of some kilobytes, below folders, into a cache.
func fill(t *testing.T, cache string, kilobytes int) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(cache, "a", "b"), 0o700))
	must(t, os.WriteFile(filepath.Join(cache, "a", "b", "c"), make([]byte, kilobytes<<10), 0o600))
}

func isEmpty(t *testing.T, folder string) bool {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	return len(entries) == 0
}

func TestOfAHolderBeyondItsBoundTheLargestCacheIsEmptied(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	c.each = 500 << 10
	small, large, other := showing(t, c, ".cache/pip", "ana"), showing(t, c, ".cache/uv", "ana"), showing(t, c, ".cache/uv", "ben")
	fill(t, small, 100)
	fill(t, large, 450)
	fill(t, other, 450)
	must(t, c.Tidy(t.Context(), time.Now()))
	if isEmpty(t, small) || !isEmpty(t, large) || isEmpty(t, other) {
		t.Errorf("empty are: small %v, large %v, the other holder's %v", isEmpty(t, small), isEmpty(t, large), isEmpty(t, other))
	}
}

func TestACacheOfTooManyFilesOrThatCannotBeLookedThroughIsEmptied(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(cache string) error{
		"many": func(cache string) error {
			for range 20 {
				if err := errors.Join(os.MkdirAll(cache, 0o700), os.WriteFile(filepath.Join(cache, "f"), nil, 0o600)); err != nil {
					return err
				}
				cache = filepath.Join(cache, "d")
			}
			return nil
		},
		"deep": func(cache string) error { // deeper than a path may be long
			at, err := os.OpenRoot(cache)
			for range 60 {
				if err != nil {
					return err
				}
				below := strings.Repeat("d", 200)
				err = at.Mkdir(below, 0o700)
				next, wrong := at.OpenRoot(below)
				at.Close()
				at, err = next, errors.Join(err, wrong)
			}
			return at.Close()
		},
	} {
		c := New(filepath.Join(t.TempDir(), "caches"))
		spoilt, sound := showing(t, c, ".cache/pip", "ana"), showing(t, c, ".cache/uv", "ana")
		fill(t, sound, 4)
		must(t, spoil(spoilt))
		c.files = 30
		must(t, c.Tidy(t.Context(), time.Now()))
		if !isEmpty(t, spoilt) || isEmpty(t, sound) {
			t.Errorf("%s: it is empty: %v, the sound one: %v", name, isEmpty(t, spoilt), isEmpty(t, sound))
		}
	}
}

func TestALinkInACacheLeadsNoTidyingOutOfIt(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	cache, outside := showing(t, c, ".cache/pip", "ana"), t.TempDir()
	fill(t, outside, 8)
	must(t, os.Symlink(outside, filepath.Join(cache, "out")))
	c.each = 0
	fill(t, cache, 8)
	must(t, c.Tidy(t.Context(), time.Now()))
	if !isEmpty(t, cache) || isEmpty(t, outside) {
		t.Errorf("the cache is empty: %v, what its link names: %v", isEmpty(t, cache), isEmpty(t, outside))
	}
}

func TestCachesThatWereNotUsedForLongGo(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	old := filepath.Dir(showing(t, c, ".cache/pip", "ana"))
	now := time.Now().Add(unusedFor)
	fresh := showing(t, c, ".cache/pip", "ben")
	must(t, os.Chtimes(filepath.Dir(fresh), now, now))
	must(t, os.Chtimes(old, now.Add(-unusedFor-time.Hour), now.Add(-unusedFor-time.Hour)))
	must(t, c.Tidy(t.Context(), now))
	if _, err := os.Lstat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old ones: %v", err)
	}
	if _, err := os.Lstat(fresh); err != nil {
		t.Errorf("the others: %v", err)
	}
}

func TestBeyondTheBoundOfAllTheCachesThatWereUnusedLongestAreEmptied(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	c.all = 500 << 10
	before, now := showing(t, c, ".cache/pip", "ana"), showing(t, c, ".cache/pip", "ben")
	fill(t, before, 300)
	fill(t, now, 300)
	must(t, os.Chtimes(filepath.Dir(before), time.Time{}, time.Now().Add(-time.Hour)))
	must(t, c.Tidy(t.Context(), time.Now()))
	if !isEmpty(t, before) || isEmpty(t, now) {
		t.Errorf("empty are: that of before %v, that of now %v", isEmpty(t, before), isEmpty(t, now))
	}
}

func TestCachesThatWereUsedAgainMeanwhileStayAndHalfRemovedOnesGo(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "caches"))
	used := filepath.Dir(showing(t, c, ".cache/pip", "ana"))
	must(t, c.remove(t.Context(), used, time.Now()))
	if _, err := os.Lstat(used); err != nil {
		t.Errorf("those that are used: %v", err)
	}
	must(t, os.Rename(used, used+unused))
	must(t, c.Tidy(t.Context(), time.Now()))
	if _, err := os.Lstat(used + unused); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("those of an interrupted removal: %v", err)
	}
}
