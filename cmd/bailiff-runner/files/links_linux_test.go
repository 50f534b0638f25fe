package files

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// linkedFolder is a folder with links in it, by what they lead to; "/" at the end of a target makes a folder.
func linkedFolder(t *testing.T, links map[string]string) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	backendtest.Must(t, err)
	for name, target := range links {
		at := filepath.Join(folder, name)
		backendtest.Must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		if target == "" {
			backendtest.Must(t, os.MkdirAll(at, 0o700))
			continue
		}
		backendtest.Must(t, os.Symlink(target, at))
	}
	return folder
}

func TestTheLinksOnTheWayOfAPathAreFound(t *testing.T) {
	t.Parallel()
	const here = "HERE" // the folder
	for name, c := range map[string]struct {
		links map[string]string // an empty one is a folder
		path  string
		found map[string]string // by the link the targets, in the order in which they are found
	}{
		"no link":            {map[string]string{"a/b": ""}, "a/b/c", nil},
		"nothing":            {nil, "a/b/c", nil},
		"a link to a folder": {map[string]string{"q": "/usr"}, "q/x", map[string]string{"q": "/usr"}},
		"a link to a link":   {map[string]string{"q": "r", "r": "/usr"}, "q/x", map[string]string{"q": "HERE/r /usr"}},
		"a link behind a link": {map[string]string{"q": "a", "a/r": "/usr"}, "q/r/x",
			map[string]string{"q": "HERE/a", "q/r": "/usr"}},
		"a link that leads on in one": {map[string]string{"q": "r/lib", "r": "/usr"}, "q", map[string]string{"q": "HERE/r/lib /usr/lib"}},
		"a way up behind a link":      {map[string]string{"q": "/usr/lib", "r": "q/.."}, "r", map[string]string{"r": "HERE /usr"}},
		"a link above a link":         {map[string]string{"q": "/usr/lib", "a": ""}, "q/../x", map[string]string{"q": "/usr/lib"}},
		"a link to nothing":           {map[string]string{"q": "/nowhere/x"}, "q/y", map[string]string{"q": "/nowhere/x"}},
		"a link to itself":            {map[string]string{"q": "q"}, "q/y", map[string]string{"q": "HERE/q"}},
		"a pattern": {map[string]string{"q": "/usr", "r": "/etc", "s": ""}, "[q-r]/x",
			map[string]string{"q": "/usr", "r": "/etc"}},
		"a pattern in the middle":       {map[string]string{"a/q": "/usr", "b/r": "/usr"}, "*/q/x", map[string]string{"a/q": "/usr"}},
		"a pattern at the end":          {map[string]string{"a/q": "/usr", "a/r": ""}, "a/*", map[string]string{"a/q": "/usr"}},
		"a name that the text hides":    {map[string]string{"q": "/usr"}, "$X/q", nil},
		"what a name is hidden behind":  {map[string]string{"q": "/usr"}, "q/$X", map[string]string{"q": "/usr"}},
		"a name like a pattern":         {map[string]string{"a[b]/q": "/usr"}, "a[b]/q", map[string]string{"a[b]/q": "/usr"}},
		"a link with a pattern as name": {map[string]string{"*": "/usr"}, "*/x", map[string]string{"*": "/usr"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := linkedFolder(t, c.links)
			for spelling, asked := range map[string]wire.Files{
				"relative": {Dir: folder, Paths: []string{c.path}},
				"absolute": {Dir: folder, Paths: []string{folder + "/" + c.path}},
			} {
				want, got := map[string]string{}, map[string]string{}
				for link, targets := range c.found {
					if spelling == "absolute" {
						link = folder + "/" + link
					}
					want[link] = strings.ReplaceAll(targets, here, folder)
				}
				ground := Resolve(asked)
				for _, l := range ground.Links {
					got[l.Path] = strings.Join(l.Targets, " ")
				}
				if !reflect.DeepEqual(got, want) || !ground.All {
					t.Errorf("%s: found %v, all %t, want %v", spelling, got, ground.All, want)
				}
			}
		})
	}
}

func TestWhatCannotBeLookedAtIsSaid(t *testing.T) {
	t.Parallel()
	folder := linkedFolder(t, map[string]string{"own": "/proc/self/cwd", "root": "/proc/1/root/etc", "mounts": "/proc/self/mounts",
		"out": "/dev/stdout"})
	var many []string
	for i := range wire.MaxParts {
		many = append(many, fmt.Sprint("d", i))
	}
	for name, c := range map[string]struct {
		paths []string
		all   bool
	}{
		"where a process stands":         {[]string{"own/x"}, false},
		"the root of a process":          {[]string{"root/x"}, false},
		"what a process tells":           {[]string{"mounts"}, true},
		"what a process writes to":       {[]string{"out"}, true},
		"more parts than are looked at":  {many, false},
		"as many as are looked at":       {many[:wire.MaxParts/2], true},
		"parts that many paths share":    {append(many[:wire.MaxParts/2:wire.MaxParts/2], many[:wire.MaxParts/2]...), true},
		"a folder that a file stands in": {[]string{"/etc/passwd/x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if ground := Resolve(wire.Files{Dir: folder, Paths: c.paths}); ground.All != c.all {
				t.Errorf("all were looked at: %t, want %t", ground.All, c.all)
			}
		})
	}
}

// A pipe that were opened would keep the runner waiting.
func TestNoPipeIsOpened(t *testing.T) {
	t.Parallel()
	folder := linkedFolder(t, map[string]string{"q": "pipe"})
	backendtest.Must(t, unix.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	ground := Resolve(wire.Files{Dir: folder, Paths: []string{"pipe", "q", "pipe/x", "p*", "q/*"}})
	if len(ground.Links) != 1 || !ground.All {
		t.Errorf("found %+v, want one link", ground)
	}
}

func TestAFolderIsKnownByItsInode(t *testing.T) {
	t.Parallel()
	folder := linkedFolder(t, map[string]string{"a": "", "q": "a", "b": ""})
	id := func(name string) string { return Resolve(wire.Files{Dir: filepath.Join(folder, name)}).Folder }
	if id("a") == "" || id("a") != id("q") || id("a") == id("b") || id("none") != "" {
		t.Errorf("folders are %q, %q, %q, %q", id("a"), id("q"), id("b"), id("none"))
	}
}
