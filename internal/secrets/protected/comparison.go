package protected

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// comparison is one look at the places of some patterns, which puts back what changed.
type comparison struct {
	*watched
	patterns map[string]bool
	// own are those of them that the user protects for whom it is.
	own map[string]bool
	// ended says that what was watched is over.
	ended bool

	survey  survey
	tops    map[string]bool     // the names in the folder itself; nil if they are to be looked at one by one
	before  map[string][]string // the names that each pattern stood for
	changes []Change
	faults  []error
}

func (c *comparison) run() ([]Change, error) {
	c.reopen()
	c.tops, c.before = topsOf(c.dir), map[string][]string{}
	for name, s := range c.states {
		if s.isFurther || stands(s.pattern, name) {
			c.before[s.pattern] = append(c.before[s.pattern], name)
		}
	}
	for _, pattern := range c.order() {
		c.comparePattern(pattern)
	}
	if wanted(c.patterns) != "" {
		c.fail(c.listing(func() (err error) {
			c.survey, err = c.surveyed(c.patterns, c.ended, c.admit)
			return err
		}))
		c.takeNested()
		c.compareSettings()
		c.compareNamed()
	}
	if c.ended && c.patterns[repository] && len(c.faults) == 0 {
		c.compareIndex()
	}
	return c.changes, errors.Join(c.faults...)
}

func (c *comparison) fail(err error) {
	if err != nil {
		c.faults = append(c.faults, err)
	}
}

func (c *comparison) tell(name string, change Change) {
	change.Path, change.source = path.Join(c.source, name), c.source
	if change.Kept != "" && !path.IsAbs(change.Kept) {
		change.Kept = path.Join(c.source, change.Kept)
	}
	c.changes = append(c.changes, change)
}

const openAgain = "was closed and is open again"

// reopen gives the owner's rights to the folder back.
func (c *comparison) reopen() {
	info, err := c.dir.Stat()
	if err == nil && isClosed(info) {
		if err = c.dir.Chmod(info.Mode() | ownersRights); err == nil {
			c.tell("", Change{How: openAgain})
		}
	}
	c.fail(err)
}

// order is how patterns are compared: folders before what is in them, and what has a "*" last.
func (c *comparison) order() (all []string) {
	for pattern := range c.patterns {
		if !strings.HasPrefix(pattern, bailiff.AnyDepth) {
			all = append(all, pattern)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if isA, isB := strings.Contains(a, "*"), strings.Contains(b, "*"); isA != isB {
			return strings.Index(a, "*") - strings.Index(b, "*")
		}
		return strings.Compare(a, b)
	})
	return all
}

// comparePattern compares those places that a pattern stands for now, and those that it stood for.
func (c *comparison) comparePattern(pattern string) {
	var all []string
	c.fail(c.listing(func() (err error) {
		all, err = expand(c.root, pattern)
		return err
	}))
	all = append(all, c.before[pattern]...)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		c.compare(name, pattern, func(was, now state) bool { return isHarmless(name, was, now) })
	}
}

// mostKeptOut is how many folders are kept out before a look gives up.
const mostKeptOut = 10

// listing does what lists folders, and keeps out those of a repository that cannot be listed.
func (c *comparison) listing(do func() error) (err error) {
	for range mostKeptOut {
		var fault unlisted
		if err = do(); !errors.As(err, &fault) {
			return err
		}
		if opened := open(c.root, fault.folder); len(opened) > 0 {
			c.tellOpened(opened)
			continue
		}
		if !slices.ContainsFunc(strings.Split(fault.folder, "/"), isGits) {
			return err
		}
		kept, wrong := keepOut(c.root, fault.folder, c.inside(fault.folder))
		if wrong != nil || kept == "" {
			return errors.Join(err, wrong)
		}
		c.tell(fault.folder, Change{Kept: kept, How: "could not be listed or held too many names; what was in it before is there again, " +
			"and the rest is in " + path.Base(kept)})
	}
	return err
}

func isGits(part string) bool { return strings.EqualFold(part, repository) }

func (c *comparison) tellOpened(folders []string) {
	for _, one := range folders {
		c.tell(one, Change{How: openAgain})
	}
}

// inside are the names in a folder that were there before, or lead to what was.
func (c *comparison) inside(folder string) (all []string) {
	for name := range c.states {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok && c.states[name].kind != absent {
			first, _, _ := strings.Cut(rest, "/")
			all = append(all, first)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compare makes a place as it was, if it is not, and if it may not stay.
func (c *comparison) compare(name, pattern string, accepts func(was, now state) bool) {
	was := c.states[name].state
	now, err := c.see(name)
	switch {
	case err != nil:
		c.fail(err)
	case was.equal(now):
	case now.links <= max(was.links, 1) && now.isWhole() && accepts(was, now):
		c.keep(name, now, pattern)
	default:
		c.fail(c.putBack(name, pattern, was, now))
	}
}

// see says how a place is, with its content. What cannot be read now is changed, for it could be.
func (c *comparison) see(name string) (state, error) {
	if isAbsent(c.tops, name) {
		return state{}, nil
	}
	now, err := look(c.root, name)
	if errors.Is(err, fs.ErrPermission) {
		c.tellOpened(open(c.root, name))
		now, err = look(c.root, name)
	}
	if err != nil || now.kind != file {
		return now, err
	}
	switch err := now.sumUp(c.root, name); {
	case isMissing(err):
		return state{}, nil
	case err != nil:
		now.isUnread = true
	}
	return now, nil
}

// putBack makes a place as it was, and looks whether it is. If not, the old state stays what it is
// compared with.
func (c *comparison) putBack(name, pattern string, was, now state) error {
	c.tops = nil // they will be others
	c.tellOpened(open(c.root, path.Dir(name)))
	change, err := Change{}, error(nil)
	if was.kind == folder {
		change, err = c.putFolderBack(name, was, now)
	} else {
		change, err = c.putFileBack(name, was, now)
	}
	if err != nil {
		return fmt.Errorf("%s is not as it was: %w", name, err)
	}
	if change.How == "" && !c.own[pattern] {
		change.How = "may not be changed while another command runs in the folder, and is as it was"
	}
	c.tell(name, change)
	if change.Lost {
		c.keep(name, state{}, pattern)
		return nil
	}
	now, err = c.see(name)
	if err == nil && was.kind == file && now.kind == file {
		was.links = max(was.links, 1)
	}
	if err == nil && !was.equal(now) {
		err = fmt.Errorf("%s is changed again while it is put back", name)
	}
	if err == nil {
		c.keep(name, now, pattern)
	}
	return err
}

func (c *comparison) putFileBack(name string, was, now state) (Change, error) {
	if alike := was; was.kind == file && !now.isUnread {
		if alike.links = now.links; alike.equal(now) {
			return Change{How: "had got a second name, and is a file of its own again"}, was.write(c.root, name)
		}
	}
	if was.isLarge && now.isLarge && was.sum == now.sum {
		return Change{How: "had other permissions, and has its own again"}, c.root.Chmod(name, was.mode)
	}
	kept, err := setAside(c.root, name)
	if err != nil && (was.kind == absent || was.isLarge || now.kind == folder) {
		return Change{}, err
	}
	if was.isLarge {
		return Change{Kept: kept, How: "was changed, and is too large to be put back", Lost: true}, nil
	}
	if err := was.write(c.root, name); err != nil {
		return Change{Kept: kept}, err
	}
	return Change{Kept: kept}, c.keepParents(name)
}

// keepParents takes the folders above a file that was put back for what was there, where a command
// had removed them.
func (c *comparison) keepParents(name string) error {
	for _, parent := range parents(name) {
		if was, isPlace := c.states[parent]; isPlace && was.kind == absent {
			now, err := look(c.root, parent)
			if err != nil {
				return err
			}
			c.keep(parent, now, was.pattern)
		}
	}
	return nil
}

// putFolderBack gives a folder its permissions back. The repository is moved back from where a
// command put it, since all in it that counts is compared. What else was moved may have been
// changed where it is now, and is left there.
func (c *comparison) putFolderBack(name string, was, now state) (Change, error) {
	if was.isSame(now) {
		return Change{How: "had other permissions, and has its own again"}, c.root.Chmod(name, was.mode)
	}
	kept, err := setAside(c.root, name)
	if err != nil {
		return Change{}, err
	}
	from := c.folderOf(was, ".", maxDepth)
	switch {
	case from == "":
		return Change{Kept: kept, How: "is gone, and cannot be put back", Lost: true}, nil
	case name != repository:
		how := "was moved to " + from + ", where a command may have changed it, and is not put back"
		return Change{Kept: kept, How: how, Lost: true}, nil
	}
	open(c.root, from) // else it cannot get another folder above it
	if err := c.root.Rename(from, name); err != nil {
		return Change{}, fmt.Errorf("moving it back from %s: %w", from, err)
	}
	return Change{Kept: kept, How: "had been moved to " + from + ", and is back"}, c.root.Chmod(name, was.mode)
}

// folderOf is where a folder is by now, empty if that cannot be told.
func (c *comparison) folderOf(was state, below string, depth int) string {
	var inside []entry
	list := func() error {
		return scan(int(c.dir.Fd()), below, func(e []byte, kind fs.FileMode) error {
			inside = append(inside, entry{string(e), kind})
			return nil
		})
	}
	if err := list(); errors.Is(err, fs.ErrPermission) && len(open(c.root, below)) > 0 {
		_ = list() // what cannot be listed is not found
	}
	for _, e := range inside {
		if !e.isDir() {
			continue
		}
		name := path.Join(below, e.name)
		if now, err := look(c.root, name); err == nil && was.isSame(now) {
			return name
		}
		if depth > 0 {
			if deeper := c.folderOf(was, name, depth-1); deeper != "" {
				return deeper
			}
		}
	}
	return ""
}
