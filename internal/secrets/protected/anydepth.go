package protected

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// anyDepth are the files that count in each folder, by the pattern that names them.
type anyDepth struct {
	names   map[string]string            // a file, by its name
	ends    map[string]string            // by the end of its name, with the dot
	folders map[string]map[string]string // by the folder that it lies in and its name
}

// isAnyDepth says whether a pattern stands for files in each folder. Repositories are looked for by more than a name.
func isAnyDepth(pattern string) bool {
	return strings.HasPrefix(pattern, bailiff.AnyDepth) && pattern != repositories
}

// maxNamed is how many files may count that lie in any folder.
const maxNamed = 10_000

func anyDepthOf(patterns map[string]bool) (d anyDepth) {
	d = anyDepth{names: map[string]string{}, ends: map[string]string{}, folders: map[string]map[string]string{}}
	for pattern := range patterns {
		if !isAnyDepth(pattern) {
			continue
		}
		file := strings.TrimPrefix(pattern, bailiff.AnyDepth)
		folder, name := path.Split(file)
		switch end, isEnd := strings.CutPrefix(file, "*"); {
		case isEnd:
			d.ends[end] = pattern
		case folder == "":
			d.names[name] = pattern
		default:
			folder = strings.TrimSuffix(folder, "/")
			if d.folders[folder] == nil {
				d.folders[folder] = map[string]string{}
			}
			d.folders[folder][name] = pattern
		}
	}
	return d
}

func (d anyDepth) isEmpty() bool { return len(d.names)+len(d.ends)+len(d.folders) == 0 }

// patternOf is the pattern by which a name in a folder counts, empty if it does not. Of a folder's own name a link counts: what is in
// it would.
func (d anyDepth) patternOf(in map[string]string, name []byte, kind fs.FileMode) string {
	if kind.IsDir() {
		return ""
	}
	if pattern := d.names[string(name)]; pattern != "" {
		return pattern
	}
	if pattern := in[string(name)]; pattern != "" {
		return pattern
	}
	if inside := d.folders[string(name)]; inside != nil && !kind.IsRegular() {
		for _, pattern := range inside {
			return pattern
		}
	}
	for end, pattern := range d.ends {
		if strings.HasSuffix(string(name), end) {
			return pattern
		}
	}
	return ""
}

// isPart says whether a name could be a part of a file that counts.
func (d anyDepth) isPart(name string) bool {
	if d.names[name] != "" || d.folders[name] != nil {
		return true
	}
	for _, inside := range d.folders {
		if inside[name] != "" {
			return true
		}
	}
	for end := range d.ends {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// ofPackages are the folders into which package managers put what is installed. No user opens or enters these, and what is in them
// runs by the project anyhow.
var ofPackages = names("node_modules", "bower_components", "vendor", "site-packages", "Pods", ".terraform")

// addNamed takes a file that counts wherever it lies.
func (s *survey) addNamed(place, pattern string) error {
	if strings.Contains(path.Base(place), suffix) {
		return nil
	}
	if s.named[place] = pattern; len(s.named) > maxNamed {
		delete(s.named, place)
		return fmt.Errorf("there are more than %d files in the folder that are protected wherever they lie", maxNamed)
	}
	return nil
}

// compareNamed compares the files that count wherever they lie.
func (c *comparison) compareNamed() {
	all := map[string]string{}
	for name, pattern := range c.survey.named {
		all[name] = pattern
	}
	before := map[string][]state{}
	for name, s := range c.states {
		if isAnyDepth(s.pattern) {
			all[name], before[s.pattern] = s.pattern, append(before[s.pattern], s.state)
		}
	}
	for _, name := range sortedNames(all) {
		if pattern := all[name]; c.patterns[pattern] {
			c.compare(name, pattern, func(was, now state) bool { return c.isKnown(name, before[pattern], was, now) })
		}
	}
}

// isKnown says that a file went with its folder, or that one of its name had its content before: folders are moved, copied and
// removed in everyday work.
func (c *comparison) isKnown(name string, before []state, was, now state) bool {
	if now.kind == absent {
		above, err := look(c.root, path.Dir(name))
		return err == nil && above.kind != folder
	}
	if was.kind != absent || now.kind != file {
		return false
	}
	return slices.ContainsFunc(before, func(s state) bool {
		isMoreOpen := now.mode&^s.mode&0o111 != 0
		s.links, s.mode = now.links, now.mode
		return s.kind == file && !isMoreOpen && s.equal(now)
	})
}
