package implied

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

const (
	// mostAbove is how many folders up a repository is looked for, mostLooked how many files are looked at in all, of
	// which those of settings have mostText bytes each.
	mostAbove  = 64
	mostLooked = 256
	mostText   = 128 << 10
)

// Settings are the files by which git starts programs, or reaches other places, in the repositories around some places:
// its settings, but for those that start nothing, its hooks, the steps of a rebase, and the files that the settings name.
// What cannot be looked at is told as unbound. That git reads them is of git-config(1), gitrepository-layout(5) and githooks(5).
func Settings(ctx context.Context, in Sandbox, workdir string, places []bailiff.Implied) Files {
	s := &settings{ctx: ctx, in: in, workdir: workdir, digests: map[string]string{}, applied: map[string]bool{}}
	for _, at := range places {
		switch {
		case at.Kind != bailiff.ImpliedSettings:
		case strings.Contains(at.Folder, "$"):
			s.leave("git's settings in a folder that the text does not tell")
		default:
			s.around(at.Folder)
		}
	}
	files := Files{Unbound: slices.Compact(slices.Sorted(slices.Values(s.unbound)))}
	for p, digest := range s.digests {
		files.Bound = append(files.Bound, bailiff.File{Path: p, SHA256: digest})
	}
	slices.SortFunc(files.Bound, func(a, b bailiff.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// settings are those that were looked at. A file that is not there has no digest.
type settings struct {
	ctx     context.Context
	in      Sandbox
	workdir string
	digests map[string]string
	applied map[string]bool // files of settings, by the working trees that they were read for
	unbound []string
	looks   int
}

func (s *settings) leave(name string) { s.unbound = append(s.unbound, name) }

// around looks at the repository of a folder, and at all in the folders above: git goes on where what it meets is none.
func (s *settings) around(folder string) {
	depth := mostAbove
	if path.IsAbs(s.workdir) || path.IsAbs(folder) {
		depth = strings.Count(path.Clean(seen(s.workdir, folder)), "/") + strings.Count(folder, "/../") + 1
	}
	if depth > mostAbove {
		s.leave("git's settings in folders more than 64 above " + folder)
	}
	for level := range min(depth, mostAbove) {
		top := folder
		if level > 0 {
			top = strings.TrimSuffix(inFolder(folder, strings.Repeat("../", level)), "/")
		}
		s.repositoriesIn(top)
	}
	s.users(folder)
}

// repositoriesIn looks at what git may take for the repository of a folder, which may be one itself.
func (s *settings) repositoriesIn(top string) {
	at := inFolder(top, ".git")
	switch c := s.read(at); c.Kind {
	case bailiff.ContentFolder:
		s.repository(top, at)
	case bailiff.ContentText:
		s.digests[at] = sum(c.Text)
		to, ok := strings.CutPrefix(strings.TrimRight(c.Text, "\r\n"), "gitdir: ")
		if ok {
			s.repository(top, joined(top, to))
		} else {
			s.leave(at)
		}
	case bailiff.ContentMissing:
	default:
		s.leave(at)
	}
	if s.read(inFolder(top, "refs")).Kind == bailiff.ContentFolder && s.read(inFolder(top, "objects")).Kind == bailiff.ContentFolder {
		s.repository(top, top)
	}
}

// repository notes what git takes from a repository whose working tree begins at top.
func (s *settings) repository(top, at string) {
	common := at
	file := inFolder(at, "commondir")
	switch c := s.read(file); c.Kind {
	case bailiff.ContentText:
		s.digests[file] = sum(c.Text)
		common = joined(at, strings.TrimRight(c.Text, "\r\n"))
	case bailiff.ContentMissing:
	default:
		s.leave(file)
	}
	if s.read(inFolder(common, "modules")).Kind == bailiff.ContentFolder {
		s.leave("the settings of submodules")
	}
	hooks := inFolder(common, "hooks")
	for _, file := range []string{inFolder(common, "config"), inFolder(at, "config.worktree")} {
		s.config(top, file, &hooks)
	}
	s.bind(hooks, inFolder(common, "remotes"), inFolder(common, "branches"), inFolder(at, "rebase-merge/git-rebase-todo"),
		inFolder(at, "sequencer/todo"))
	s.users(top)
}

// users notes the settings of the user, and the folder of hooks that they name.
func (s *settings) users(top string) {
	var hooks string
	for _, file := range []string{"~/.config/git/config", "~/.gitconfig"} {
		s.config(top, file, &hooks)
	}
	if hooks != "" {
		s.bind(hooks)
	}
}

// config notes a file of settings, those that it includes and the files that it names, and finds the folder of hooks.
func (s *settings) config(top, file string, hooks *string) {
	if key := top + "\x00" + file; s.applied[key] {
		return
	} else {
		s.applied[key] = true
	}
	c := s.read(file)
	switch c.Kind {
	case bailiff.ContentMissing:
		s.digests[file] = ""
		return
	case bailiff.ContentText:
	default:
		s.leave(file)
		return
	}
	own, whole := parse(c.Text)
	s.digests[file] = own.digest()
	if !whole {
		s.digests[file] = sum(c.Text)
		s.leave(file)
	}
	for _, one := range own {
		s.setting(top, file, one, hooks)
	}
}

// setting notes what one of them names.
func (s *settings) setting(top, file string, one setting, hooks *string) {
	switch {
	case one.includes() && !isTold(one.value):
		s.leave(one.value)
	case one.includes():
		s.config(top, seen(folderOf(file), one.value), hooks)
	case one.section == "core" && one.name == "hookspath" && one.value == "": // there are none
	case one.section == "core" && one.name == "hookspath":
		if *hooks = seen(top, one.value); !isTold(one.value) {
			s.leave(one.value)
		}
	case one.address() != "" && !isElsewhere(one.address()):
		s.remote(seen(top, strings.TrimPrefix(one.address(), "file://")))
	default:
		for _, p := range one.files() {
			if !isTold(p) {
				s.leave(p)
				continue
			}
			s.bindFile(seen(top, p))
		}
	}
}

// remote notes what git runs in a repository of this machine to which it pushes.
func (s *settings) remote(at string) {
	for _, at := range []string{at, inFolder(at, ".git"), at + ".git"} {
		if s.read(at).Kind == bailiff.ContentFolder {
			s.bind(inFolder(at, "config"), inFolder(at, "hooks"))
		}
	}
}

// bindFile notes a file. A folder that a setting names is no program.
func (s *settings) bindFile(p string) {
	if s.read(p).Kind != bailiff.ContentFolder {
		s.bind(p)
	}
}

// bind notes files, or folders with all that is in them.
func (s *settings) bind(paths ...string) {
	for _, p := range paths {
		if _, again := s.digests[p]; again || !s.look(p) {
			continue
		}
		files, err := s.in.Digest(s.ctx, s.workdir, []string{p})
		if err != nil {
			s.leave(p)
			continue
		}
		s.digests[p] = files[0].SHA256
	}
}

// look counts a look at a file; beyond the bound there is none.
func (s *settings) look(p string) bool {
	if s.looks++; s.looks > mostLooked {
		s.leave(p)
		return false
	}
	return true
}

// read is a file; of one that cannot be read nothing is known.
func (s *settings) read(p string) bailiff.Content {
	if !s.look(p) {
		return bailiff.Content{}
	}
	c, err := s.in.Read(s.ctx, s.workdir, p, mostText)
	if err != nil {
		return bailiff.Content{}
	}
	return c
}

// folderOf is the folder of a file, where ".." is for the file system to follow.
func folderOf(file string) string {
	if i := strings.LastIndexByte(file, '/'); i > 0 {
		return file[:i]
	}
	return "."
}

// joined is a path as seen from a folder, in which "~" is a name as any.
func joined(folder, p string) string {
	switch {
	case path.IsAbs(p):
		return p
	case strings.HasPrefix(p, "~"):
		return inFolder(folder, "./"+p)
	}
	return inFolder(folder, p)
}

func sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func inFolder(folder, name string) string {
	if folder == "." {
		return name
	}
	return strings.TrimSuffix(folder, "/") + "/" + name
}

// seen is a path that a file names which lies in a folder.
func seen(from, p string) string {
	if path.IsAbs(p) || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	return inFolder(from, p)
}
