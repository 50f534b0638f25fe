package protected

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// walkEvery is after how long a look walks through the folder without a word of the kernel.
	walkEvery = 30 * time.Second
	// maxTrees is how many folders of a keeper are listened to: each takes one of the 128 instances that a user has by default.
	maxTrees = 16
)

// walk is the last survey of a folder. It holds for as long as the kernel tells of no name that could change it (inotify(7)).
type walk struct {
	survey survey
	// of says what was looked for.
	of string
	at time.Time
	// folder is the one through which it went.
	folder os.FileInfo
	// tree hears of changes; nil where there is none, so that each look walks.
	tree *tree
	// isDeaf says that none is to be tried.
	isDeaf bool
}

// surveyed is a survey of the folder for some patterns: the last one, where nothing that it could find has changed since.
func (f *watched) surveyed(patterns map[string]bool, mayWait bool, admit func(string, error) (bool, error)) (survey, error) {
	w, of := &f.walk, wanted(patterns)
	isHeard := w.tree.isQuiet(w.survey.mayChange)
	if isHeard && w.of == of && (mayWait || time.Since(w.at) < walkEvery) {
		s := w.survey
		s.dir, s.root, s.admit = f.dir, f.root, admit
		return s, nil
	}
	w.survey = survey{} // holds for nothing while it is not complete
	if w.tree == nil && !w.isDeaf {
		w.tree = newTree(f.dir)
	}
	s := survey{dir: f.dir, root: f.root, own: patterns[repository] || patterns[repositories], nested: patterns[repositories],
		anyDepth: anyDepthOf(patterns), admit: admit, tree: w.tree}
	w.of = ""
	err := s.find()
	if w.tree != nil && w.tree.isLost {
		w.drop()
		w.isDeaf, s.tree = true, nil
	}
	if err == nil && !s.isPartial {
		w.survey, w.of, w.at = s, of, time.Now()
	}
	return s, err
}

// drop forgets what was heard.
func (w *walk) drop() {
	w.tree.close()
	*w = walk{folder: w.folder, isDeaf: w.isDeaf}
}

func (w *walk) isIn(folder os.FileInfo) bool { return w.folder != nil && os.SameFile(w.folder, folder) }

// wanted says which patterns a survey is about.
func wanted(patterns map[string]bool) string {
	var all []string
	for pattern := range patterns {
		if pattern == repository || pattern == repositories || isAnyDepth(pattern) {
			all = append(all, pattern)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// mayChange says whether a survey could find something else once a name has come or gone.
func (s *survey) mayChange(name string, isFolder, isGits bool) bool {
	return isFolder || isGits || strings.EqualFold(name, repository) || partOf([]byte(name)) != 0 || s.anyDepth.isPart(name)
}

// listen has the tree hear of changes in a folder that is looked through now.
func (s *survey) listen(fd int, isGits bool) {
	if s.tree != nil {
		s.tree.add(fd, isGits)
	}
}

// listenTo does so for a folder of which only some names are looked at.
func (s *survey) listenTo(name string) {
	if s.tree == nil {
		return
	}
	if fd, err := openBelow(int(s.dir.Fd()), name); err == nil {
		dir := os.NewFile(uintptr(fd), name)
		s.listen(fd, true)
		_ = dir.Close()
	}
}

// tops are the names in the folder itself, in small letters; nil if there are too many.
func topsOf(dir *os.File) map[string]bool {
	tops := map[string]bool{}
	err := scan(int(dir.Fd()), ".", func(e []byte, _ fs.FileMode) error {
		if tops[folded(string(e))] = true; len(tops) > maxMatches {
			return errors.ErrUnsupported // by so many names at once
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return tops
}

// folded is a name as file systems compare it for which the case of letters does not count.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// isAbsent says that a place cannot be there, since its first part is not.
func isAbsent(tops map[string]bool, name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return tops != nil && !tops[folded(first)]
}
