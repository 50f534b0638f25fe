package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// survey looks at the parts of paths, one by one, and follows the links itself.
type survey struct {
	// known is what stands at places, by paths without links, and listed what is in folders.
	known  map[string]standing
	listed map[string][]os.DirEntry
	// found are the targets of links, by their paths as they were asked for, of so many bytes.
	found map[string][]string
	bytes int
	// entered is how many names folders were found to have, and compared how often a pattern was held to one: each of
	// them [mostEntries] times at most.
	entered, compared int
	// opaque says that something could not be looked at.
	opaque bool
}

// standing is what stands at a path: of a type of unix.S_IFMT, 0 for nothing.
type standing struct {
	kind   uint32
	device uint64
	mounts bool // see [mountsOnDemand]
}

// Resolve looks at paths, and at the folder from which relative ones are seen.
func Resolve(asked wire.Files) wire.Ground {
	s := &survey{known: map[string]standing{}, listed: map[string][]os.DirEntry{}, found: map[string][]string{}}
	s.look("/")
	dir, spelt := "/", ""
	for _, name := range partsOf(asked.Dir) {
		if dir, spelt = s.step(dir, spelt, name); dir == "" {
			break
		}
	}
	g := wire.Ground{Folder: identity(dir)}
	for _, p := range asked.Paths {
		if filepath.IsAbs(p) {
			s.walk("/", "", partsOf(p))
		} else if dir != "" {
			s.walk(dir, ".", partsOf(p))
		}
	}
	for link, targets := range s.found {
		g.Links = append(g.Links, wire.Link{Path: link, Targets: targets})
	}
	slices.SortFunc(g.Links, func(a, b wire.Link) int { return strings.Compare(a.Path, b.Path) })
	g.All = !s.opaque
	return g
}

// identity is a folder's device and inode.
func identity(folder string) string {
	var about unix.Stat_t
	if folder == "" || unix.Fstatat(unix.AT_FDCWD, folder, &about, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", about.Dev, about.Ino)
}

func partsOf(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(part string) bool { return part == "" || part == "." })
}

// walk goes from a folder, whose path has no links, down the parts of a path that is spelt so up to there. It returns the
// path of the folder at its end, empty if there is none.
func (s *survey) walk(at, spelt string, parts []string) string {
	for i, part := range parts {
		switch {
		case at == "", isUnknown(part) && s.look(path.Join(at, part)).kind == 0:
			return ""
		case isPattern(part) && !isUnknown(part):
			s.each(at, spelt, parts[i:])
			return ""
		}
		at, spelt = s.step(at, spelt, part)
	}
	return at
}

// step goes into what a folder has by a name. Nothing is behind what is no folder.
func (s *survey) step(at, spelt, name string) (to, speltSo string) {
	if spelt == "." {
		spelt = name
	} else {
		spelt += "/" + name
	}
	to = path.Join(at, name)
	if name == ".." || isOwn(to) {
		return to, spelt
	}
	what := s.look(to)
	if what.kind == unix.S_IFLNK {
		to, what = s.follow(at, name, spelt)
	}
	if what.kind != unix.S_IFDIR {
		to = ""
	}
	return to, spelt
}

// isUnknown says that the text does not tell a part, unless something has that very name.
func isUnknown(part string) bool {
	return strings.ContainsAny(part, "$\x00") || strings.Contains(part, "(…)") || strings.Contains(part, "{…}")
}

// special are the characters of patterns that [path.Match] takes otherwise than shells do.
const special = `[{(\`

func isPattern(part string) bool { return strings.ContainsAny(part, "*?"+special) }

// each walks on with what is in a folder and may match the first part of a pattern. A file leads nowhere.
func (s *survey) each(at, spelt string, parts []string) {
	for _, e := range s.entries(at) {
		if e.Type()&os.ModeSymlink == 0 && (!e.IsDir() || len(parts) == 1) {
			continue
		}
		if s.compared++; s.compared > mostEntries {
			s.opaque = true
			return
		}
		if fits, _ := path.Match(parts[0], e.Name()); fits || strings.ContainsAny(parts[0], special) {
			to, so := s.step(at, spelt, e.Name())
			s.walk(to, so, parts[1:])
		}
	}
}

// entries are what is in a folder.
func (s *survey) entries(folder string) []os.DirEntry {
	if known, ok := s.listed[folder]; ok || isOwn(folder) {
		return known
	}
	left := mostEntries - s.entered
	if left <= 0 {
		s.opaque = true
		return nil
	}
	f, err := os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	var entries []os.DirEntry
	if err == nil {
		defer func() { _ = f.Close() }()
		if entries, err = f.ReadDir(left); err == nil && len(entries) == left {
			s.opaque = true
		}
		s.entered += len(entries)
	}
	if err != nil && !errors.Is(err, io.EOF) && !isNothing(err) {
		s.opaque = true
	}
	s.listed[folder] = entries
	return entries
}

// follow follows a link in a folder, and those behind it, to what is at the end.
func (s *survey) follow(at, name, spelt string) (to string, what standing) {
	to, what = at, standing{kind: unix.S_IFDIR}
	rest, links := []string{name}, 0
	for len(rest) > 0 && what.kind == unix.S_IFDIR {
		to, rest = path.Join(to, rest[0]), rest[1:]
		if what = s.look(to); what.kind != unix.S_IFLNK {
			continue
		}
		target, err := os.Readlink(to)
		if links++; err != nil || links > maxLinks {
			return "", standing{}
		}
		if to, rest = path.Dir(to), append(partsOf(target), rest...); filepath.IsAbs(target) {
			to = "/"
		}
		what.kind = unix.S_IFDIR
		s.note(spelt, path.Join(to, path.Join(rest...)))
	}
	s.note(spelt, path.Join(to, path.Join(rest...)))
	return to, what
}

// note notes a name of what a link leads to.
func (s *survey) note(link, target string) {
	switch targets := s.found[link]; {
	case slices.Contains(targets, target):
	case s.bytes+len(link)+len(target) > wire.MaxPayload/2:
		s.opaque = true
	default:
		s.bytes += len(link) + len(target)
		s.found[link] = append(targets, target)
		s.opaque = s.opaque || isOfProcess(target)
	}
}

// look is what stands at a path whose folder has no links on its way.
func (s *survey) look(p string) standing {
	if known, ok := s.known[p]; ok || isOwn(p) {
		return known
	}
	folder := s.known[path.Dir(p)]
	if len(s.known) > wire.MaxParts || folder.mounts && !isMounted(p) {
		s.opaque = true
		return standing{}
	}
	var about unix.Stat_t
	if err := unix.Fstatat(unix.AT_FDCWD, p, &about, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT); err != nil {
		s.opaque = s.opaque || !isNothing(err)
		about = unix.Stat_t{}
	}
	what := standing{kind: about.Mode & unix.S_IFMT, device: about.Dev}
	what.mounts = what.kind == unix.S_IFDIR && (what.device != folder.device || folder.mounts) && mountsOnDemand(p)
	s.known[p] = what
	return what
}

// isNothing says that the user of the commands finds nothing at a path either.
func isNothing(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOENT, unix.ENOTDIR, unix.EACCES, unix.ELOOP, unix.ENAMETOOLONG},
		func(known error) bool { return errors.Is(err, known) })
}

// mountsOnDemand says that the kernel mounts file systems in a folder as a program looks for them. To be told so
// mounts none.
func mountsOnDemand(folder string) bool {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var of unix.Statfs_t
	return unix.Fstatfs(fd, &of) == nil && of.Type == unix.AUTOFS_SUPER_MAGIC
}

// isMounted says that there is a mount at a path already.
func isMounted(p string) bool {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	return err == nil && strings.Contains(string(mounts), " "+p+" ")
}

// isOwn says that each program finds something of its own at a path, which its name tells.
func isOwn(p string) bool {
	for _, own := range []string{"/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"} {
		if p == own || strings.HasPrefix(p, own+"/") {
			return true
		}
	}
	return false
}

// isOfProcess says that a path leads on from where a process stands.
func isOfProcess(p string) bool {
	if !strings.HasPrefix(p, "/proc/") {
		return false
	}
	return slices.ContainsFunc(partsOf(p), func(part string) bool {
		return slices.Contains([]string{"root", "cwd", "fd", "task", "exe", "map_files"}, part)
	})
}
