package protected

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/internal/project/nested"
)

const (
	// maxNames is how many names a folder may hold in all, so that a survey has an end.
	maxNames = 3_000_000
	// maxDepth is how deep folders may lie. To look at a place takes as long as its depth squared.
	maxDepth = 128
)

// survey finds the places in a folder by which git, called there later, starts programs: settings
// of repositories, which are few, beside what git keeps of its own, which is much.
//
// gitrepository-layout(5) names what git reads as settings. A folder is a repository to git if it
// is called .git, or if it has HEAD and either commondir or both objects and refs.
type survey struct {
	dir  *os.File
	root *os.Root // the same
	// own says that the settings of the folder's own repository are looked for, and nested that
	// those of all others are.
	own, nested bool
	// anyDepth are the files that are looked for in each folder.
	anyDepth anyDepth
	// admit is asked about a folder that cannot be listed: whether it can be by now.
	admit func(name string, fault error) (again bool, err error)
	// tree hears of changes in the folders that are looked through; it may be nil.
	tree *tree
	// isPartial says that a folder was let be which a command could open.
	isPartial bool

	seen int
	// settings are the places that are there.
	settings map[string]bool
	// folders are the repositories' own, with what is called .git left out that is a file.
	folders map[string]bool
	// bare are those of them that are not called .git.
	bare []string
	// embedded are the folders that have a .git of their own which is no file.
	embedded []string
	// gits are the folders and files called .git, but for that of the folder itself.
	gits map[string]bool
	// named are the files that count wherever they lie, with the pattern for which each does.
	named map[string]string
	// sealed are the folders of others that cannot be listed.
	sealed map[string]bool
}

var (
	settingFiles   = names("config", "config.worktree", "commondir", "gitdir")
	settingFolders = names("hooks", "info", "remotes", "branches")
	// unfinished are the folders of a rebase or of the like, with the files in each that say what is
	// still to be done, and by which program.
	unfinished = map[string][]string{
		"rebase-merge": {"git-rebase-todo", "strategy"}, "rebase-apply": {"git-rebase-todo"}, "sequencer": {"todo", "opts"}}
)

func names(all ...string) map[string]bool {
	set := map[string]bool{}
	for _, one := range all {
		set[one] = true
	}
	return set
}

// find fills a survey.
func (s *survey) find() error {
	s.settings, s.folders, s.bare, s.embedded, s.seen = map[string]bool{}, map[string]bool{}, nil, nil, 0
	s.named, s.sealed, s.gits = map[string]string{}, map[string]bool{}, map[string]bool{}
	if s.own {
		if err := s.repository(repository); err != nil {
			return err
		}
	}
	if s.nested || !s.anyDepth.isEmpty() {
		return s.below(int(s.dir.Fd()), ".", "", 0, false)
	}
	return nil
}

// below looks through a folder, which has one name from the folder that is held, and another one
// from the top. In a folder of packages repositories count alone.
func (s *survey) below(held int, rel, name string, depth int, ofPackage bool) error {
	if depth > maxDepth {
		return fmt.Errorf("%.80s… lies more than %d folders deep", name, maxDepth)
	}
	if len(rel) > maxPath {
		deeper, err := openBelow(held, rel)
		if err != nil {
			return fmt.Errorf("looking into %.80s…: %w", name, err)
		}
		defer func() { _ = unix.Close(deeper) }()
		held, rel = deeper, "."
	}
	var folders []string
	var gits []entry
	var fault error
	has, in := parts(0), s.anyDepth.folders[path.Base(name)]
	err := s.scan(held, rel, name, false, func(e []byte, kind fs.FileMode) {
		has |= partOf(e)
		if !ofPackage {
			if pattern := s.anyDepth.patternOf(in, e, kind); pattern != "" && fault == nil {
				fault = s.addNamed(path.Join(name, string(e)), pattern)
			}
		}
		switch {
		case len(e) == len(repository) && strings.EqualFold(string(e), repository):
			gits = append(gits, entry{string(e), kind})
		case kind.IsDir():
			folders = append(folders, string(e))
		}
	})
	// A fault in one folder keeps no other from being looked through: a command could have made it for that.
	err = cmp.Or(err, fault)
	for _, e := range gits {
		if s.nested {
			err = cmp.Or(err, s.takeGit(path.Join(name, e.name), e))
		}
	}
	for _, one := range folders {
		if s.seen <= maxNames {
			err = cmp.Or(err, s.below(held, path.Join(rel, one), path.Join(name, one), depth+1, ofPackage || ofPackages[one]))
		}
	}
	if !has.areRepository() || !s.nested {
		return err
	}
	s.bare = append(s.bare, path.Join(name, "."))
	return cmp.Or(err, s.repository(path.Join(name, ".")))
}

// parts are those of a folder by which git takes it for a repository.
type parts uint8

const (
	partHead parts = 1 << iota
	partCommon
	partObjects
	partRefs
)

func partOf(name []byte) parts {
	switch string(name) {
	case "HEAD":
		return partHead
	case "commondir":
		return partCommon
	case "objects":
		return partObjects
	case "refs":
		return partRefs
	}
	return 0
}

func (p parts) areRepository() bool {
	return p&partHead != 0 && (p&partCommon != 0 || p&partObjects != 0 && p&partRefs != 0)
}

// takeGit takes what is called .git somewhere below the folder.
func (s *survey) takeGit(place string, e entry) error {
	if place == repository {
		return nil // the pattern of that name stands for it
	}
	if e.isDir() || e.kind.IsRegular() {
		s.gits[place] = true
	} else if text, err := s.root.Readlink(place); err == nil && nested.IsLink(text) {
		return nil
	}
	if !e.kind.IsRegular() {
		s.embedded = append(s.embedded, path.Dir(place))
	}
	if e.isDir() {
		return s.repository(place)
	}
	s.settings[place] = true
	return nil
}

// repository takes the settings of one.
func (s *survey) repository(name string) error {
	inside, err := s.list(name)
	if err != nil || s.folders[name] {
		return err
	}
	s.folders[name] = true
	for _, e := range inside {
		place := path.Join(name, e.name)
		todo, isUnfinished := unfinished[e.name]
		isFolder := settingFolders[e.name] || isUnfinished || e.name == "modules" || e.name == "worktrees"
		switch {
		case settingFiles[e.name], isFolder && !e.isDir(), s.isLink(place, e):
			s.settings[place] = true
		case settingFolders[e.name]:
			err = s.settingsIn(place)
		case isUnfinished:
			err = s.takeUnfinished(place, todo)
		case e.name == "modules":
			err = s.modules(place, 0)
		case e.name == "worktrees":
			err = s.worktrees(place)
		case written[e.name] && e.isDir():
			err = s.linksIn(place, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// written are the folders of a repository in which git writes files by their names. It follows links as it does, and makes none.
var written = names("refs", "logs", "objects", "rr-cache", "lfs")

// linksIn takes the links in such a folder, through which the user's git would write a message, a name or an object elsewhere.
func (s *survey) linksIn(name string, depth int) error {
	inside, err := s.list(name)
	if err == nil && depth > maxDepth {
		err = unlisted{name, fmt.Errorf("%.80s… lies more than %d folders deep", name, maxDepth)}
	}
	for _, e := range inside {
		place := path.Join(name, e.name)
		switch {
		case err != nil:
			return err
		case s.isLink(place, e):
			s.settings[place] = true
		case e.isDir() && !fanOut.MatchString(e.name): // below those files come by a rename, which follows nothing
			err = s.linksIn(place, depth+1)
		}
	}
	return err
}

// fanOut are names of folders with objects.
var fanOut = regexp.MustCompile(`^[0-9a-f]{2}$`)

// isLink says whether a name is a link that counts. As git begins a repository it makes one to a file that is not there, to see whether
// it can.
func (s *survey) isLink(name string, e entry) bool {
	if e.isDir() || e.kind.IsRegular() {
		return false
	}
	to, err := s.root.Readlink(name)
	return err == nil && to != "testing"
}

// settingsIn takes the files of a folder of settings. Git starts no hook whose name has an end.
func (s *survey) settingsIn(name string) error {
	inside, err := s.list(name)
	for _, e := range inside {
		if !e.isDir() && !strings.HasSuffix(e.name, ".sample") && !strings.Contains(e.name, suffix) {
			s.settings[path.Join(name, e.name)] = true
		}
	}
	if err == nil && len(inside) > maxMatches {
		err = unlisted{name, fmt.Errorf("%s holds more than %d names", name, maxMatches)}
	}
	return err
}

func (s *survey) takeUnfinished(folder string, files []string) error {
	s.listenTo(folder)
	if err := s.linksIn(folder, 0); err != nil {
		return err
	}
	for _, name := range files {
		now, err := look(s.root, path.Join(folder, name))
		if err != nil {
			return err
		}
		if now.kind != absent {
			s.settings[path.Join(folder, name)] = true
		}
	}
	return nil
}

// modules takes the repositories of submodules: their names may have parts, and settings may be
// there before the rest is.
func (s *survey) modules(name string, depth int) error {
	inside, err := s.list(name)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return unlisted{name, fmt.Errorf("%.80s… lies more than %d folders deep", name, maxDepth)}
	}
	has := parts(0)
	for _, e := range inside {
		has |= partOf([]byte(e.name))
	}
	if err := s.repository(name); err != nil || has.areRepository() {
		return err
	}
	for _, e := range inside {
		if e.isDir() {
			if err := s.modules(path.Join(name, e.name), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *survey) worktrees(name string) error {
	inside, err := s.list(name)
	for _, e := range inside {
		if err == nil && e.isDir() {
			err = s.repository(path.Join(name, e.name))
		}
	}
	return err
}

// list is what lies in a folder; in what is gone or is none, nothing.
func (s *survey) list(name string) (inside []entry, err error) {
	err = s.scan(int(s.dir.Fd()), name, name, true, func(e []byte, kind fs.FileMode) { inside = append(inside, entry{string(e), kind}) })
	return inside, err
}

// scan tells what lies in a folder. Of what is gone or is none it tells nothing, nor of a folder
// that is let be though it cannot be listed.
func (s *survey) scan(held int, rel, name string, isGits bool, tell func(name []byte, kind fs.FileMode)) error {
	list := func() error {
		fd, err := openBelow(held, rel)
		if err != nil {
			return err
		}
		s.listen(fd, isGits) // before it is read
		return scanOpen(fd, func(e []byte, kind fs.FileMode) error {
			if s.seen++; s.seen > maxNames {
				return fmt.Errorf("there are more than %d names in the folder", maxNames)
			}
			tell(e, kind)
			return nil
		})
	}
	err := list()
	if s.seen > maxNames {
		return unlisted{name, err}
	}
	if err == nil || isMissing(err) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if again, fault := s.admit(name, err); fault != nil || !again {
		info, err := s.root.Lstat(name)
		if err == nil && ownerOf(info) != os.Geteuid() {
			s.sealed[name] = true
		} else { // a command could open it
			s.isPartial = true
		}
		return fault
	}
	if err := list(); err != nil {
		return unlisted{name, fmt.Errorf("looking into %s: %w", name, err)}
	}
	return nil
}

// accepts says whether git, or a person who uses it as everybody does, may have made a setting
// what it is, so that it starts nothing that was not started before.
func (s *survey) accepts(name string, was, now state) bool {
	folder, base := path.Dir(name), path.Base(name)
	_, isUnfinished := unfinished[path.Base(folder)]
	switch {
	case now.kind == absent: // done, or with its repository
		return isUnfinished || strings.EqualFold(base, repository) || s.isGone(folder)
	case now.kind != file || was.kind == file && was.mode != now.mode:
		return false
	case strings.EqualFold(base, repository):
		return was.kind == absent && s.leadsInside(folder, now.content)
	case isUnfinished:
		return startsNothing(base, was.content, now.content)
	case base == "config", base == "config.worktree":
		return isHarmless(name, was, now) || isPlain(now.content) && worksInside(folder, now.content) &&
			(was.kind == absent || isPlain(was.content) && sameRemotes(was, now))
	case base == "commondir":
		return isWorktree(folder) && string(now.content) == "../..\n"
	case base == "gitdir":
		return isWorktree(folder)
	case path.Base(folder) == "info":
		return base == "exclude" || base == "refs" || base == "sparse-checkout"
	}
	return false
}

// isGone says whether the repository is removed in which a folder of settings is, or which it is.
func (s *survey) isGone(name string) bool {
	if settingFolders[path.Base(name)] {
		name = path.Dir(name)
	}
	now, err := look(s.root, name)
	return err == nil && now.kind != folder
}

// isWorktree says whether a folder is where git keeps what belongs to a linked worktree.
func isWorktree(folder string) bool { return path.Base(path.Dir(folder)) == "worktrees" }

// leadsInside says whether a file .git names a repository whose settings are looked for as well.
func (s *survey) leadsInside(folder string, content []byte) bool {
	to, ok := strings.CutPrefix(string(content), "gitdir: ")
	to = strings.TrimSuffix(to, "\n")
	if !ok || strings.ContainsAny(to, "\n\x00") {
		return false
	}
	if rest, isBelow := strings.CutPrefix(to, s.root.Name()+"/"); isBelow {
		to = path.Clean(rest)
	} else if !path.IsAbs(to) {
		to = path.Join(folder, to)
	}
	return s.folders[to] || s.leadsNowhere(to)
}

// leadsNowhere says whether a repository would be a linked folder's or a submodule's of the folder's own, and is not there: it
// is in the private git directory that a sandbox has in place of the folder's.
func (s *survey) leadsNowhere(to string) bool {
	if !strings.HasPrefix(to, repository+"/worktrees/") && !strings.HasPrefix(to, repository+"/modules/") {
		return false
	}
	now, err := look(s.root, to)
	return err == nil && now.kind == absent
}

// todoWords are the lines of a rebase, or of a series of picks, that run nothing.
var todoWords = names("pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f", "drop", "d", "label", "l", "reset", "t",
	"merge", "m", "noop", "break", "b", "update-ref", "u", "revert")

// strategies are git's own ways to merge. Of another name git starts a program.
var strategies = names("ort", "recursive", "resolve", "octopus", "ours", "subtree")

var optionLine = regexp.MustCompile(`^\s*(?:\[options\]|([a-z-]+) = ([A-Za-z0-9_.-]+))\s*$`)

// startsNothing says whether a file of what is still to be done has no line that runs something,
// but those that were there before.
func startsNothing(file string, was, now []byte) bool {
	before := slices.Collect(strings.Lines(string(was)))
	for line := range strings.Lines(string(now)) {
		words, harmless := strings.Fields(line), false
		switch option := optionLine.FindStringSubmatch(line); {
		case len(words) == 0:
			harmless = true
		case file == "strategy":
			harmless = len(words) == 1 && strategies[words[0]]
		case file == "opts":
			harmless = option != nil && (option[1] != "strategy" || strategies[option[2]])
		default:
			harmless = strings.HasPrefix(words[0], "#") || todoWords[words[0]]
		}
		if !harmless && !slices.Contains(before, line) {
			return false
		}
	}
	return true
}
