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
	// mostAbove is how many folders up a repository is looked for, mostSettings how many files of settings are read, of
	// mostText bytes each, mostNamed how many files these may name.
	mostAbove    = 24
	mostSettings = 16
	mostText     = 128 << 10
	mostNamed    = 64
)

// Settings are the files by which git starts programs, or reaches other places, in the repositories around some places:
// its settings, but for those that no program is started by, its hooks, the steps of a rebase, and the files that the settings name.
// That git reads them is of git-config(1), gitrepository-layout(5) and githooks(5).
func Settings(ctx context.Context, in Sandbox, workdir string, places []bailiff.Implied) Files {
	s := &settings{ctx: ctx, in: in, workdir: workdir, digests: map[string]string{}}
	for _, at := range places {
		switch {
		case at.Kind != bailiff.ImpliedSettings:
		case strings.Contains(at.Folder, "$"):
			s.unbound = append(s.unbound, "git's settings in a folder that the text does not tell")
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

// settings are what was found of them. A file that is not there has no digest.
type settings struct {
	ctx     context.Context
	in      Sandbox
	workdir string
	digests map[string]string
	unbound []string
	named   int
}

// around finds the repository of a folder, as git does: in it, or in the nearest folder above.
func (s *settings) around(folder string) {
	for level := range mostAbove {
		top := strings.TrimSuffix(inFolder(folder, strings.Repeat("../", level)), "/")
		if level == 0 {
			top = folder
		}
		at := inFolder(top, ".git")
		switch c := s.read(at); c.Kind {
		case bailiff.ContentFolder:
			s.repository(top, at)
			return
		case bailiff.ContentText:
			to, _ := strings.CutPrefix(strings.TrimSpace(c.Text), "gitdir:")
			s.repository(top, seen(top, strings.TrimSpace(to)))
			return
		case bailiff.ContentMissing:
		default:
			s.unbound = append(s.unbound, at)
			return
		}
		if s.read(inFolder(top, "HEAD")).Kind == bailiff.ContentText { // it is a repository itself
			s.repository(top, top)
			return
		}
	}
	s.users(folder)
}

// repository notes what git takes from a repository whose working tree begins at top.
func (s *settings) repository(top, at string) {
	common := at
	c := s.read(inFolder(at, "commondir"))
	if c.Kind == bailiff.ContentText {
		common = seen(at, strings.TrimSpace(c.Text))
	}
	hooks := inFolder(common, "hooks")
	for _, file := range []string{inFolder(common, "config"), inFolder(at, "config.worktree")} {
		if own := s.config(top, file); own != "" {
			hooks = seen(top, own)
		}
	}
	if own := s.users(top); own != "" && hooks == inFolder(common, "hooks") {
		hooks = seen(top, own)
	}
	s.bind(hooks, inFolder(at, "rebase-merge/git-rebase-todo"), inFolder(at, "sequencer/todo"))
}

// users notes the settings of the user.
func (s *settings) users(top string) (hooks string) {
	for _, file := range []string{"~/.config/git/config", "~/.gitconfig"} {
		if own := s.config(top, file); own != "" {
			hooks = own
		}
	}
	return hooks
}

// config notes a file of settings, those that it includes and the files that it names, and returns the folder of hooks.
func (s *settings) config(top, file string) (hooks string) {
	if _, again := s.digests[file]; again || len(s.digests) >= mostSettings+mostNamed {
		return ""
	}
	c := s.read(file)
	switch c.Kind {
	case bailiff.ContentMissing:
		s.digests[file] = ""
		return ""
	case bailiff.ContentText:
	default:
		s.unbound = append(s.unbound, file)
		return ""
	}
	own, whole := parse(c.Text)
	if !whole {
		s.digests[file] = sum(c.Text)
		s.unbound = append(s.unbound, file)
		return ""
	}
	s.digests[file] = own.digest()
	for _, one := range own {
		switch {
		case one.includes():
			if nested := s.config(top, seen(path.Dir(file), one.value)); nested != "" {
				hooks = nested
			}
		case one.section == "core" && one.name == "hookspath":
			hooks = one.value
		default:
			s.bind(one.files(top)...)
		}
	}
	return hooks
}

// bind notes files, or folders, with all that is in them.
func (s *settings) bind(paths ...string) {
	for _, p := range paths {
		if _, again := s.digests[p]; again {
			continue
		}
		if s.named++; s.named > mostNamed {
			s.unbound = append(s.unbound, p)
			return
		}
		found, err := s.in.Digest(s.ctx, s.workdir, []string{p})
		if err != nil {
			s.unbound = append(s.unbound, p)
			continue
		}
		s.digests[p] = found[0].SHA256
	}
}

// read is a file; of one that cannot be read nothing is known.
func (s *settings) read(p string) bailiff.Content {
	c, err := s.in.Read(s.ctx, s.workdir, p, mostText)
	if err != nil {
		return bailiff.Content{}
	}
	return c
}

func sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
