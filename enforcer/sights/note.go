package sights

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/internal/project/manifest"
)

// maxFolders is how many folders are looked into for projects.
const maxFolders = 2_000

// Sights knows what projects of this machine declared before sessions came. It may be used concurrently.
type Sights struct {
	host  string
	store ledger.Entries[ledger.Project]

	mu sync.Mutex
	// noted are the folders to which sessions came, by their paths.
	noted map[string]manifest.Declared
}

// New reads what projects declared. Host names this machine.
func New(host string, store ledger.Entries[ledger.Project]) (*Sights, error) {
	entries, err := store.All()
	if err != nil {
		return nil, fmt.Errorf("reading what projects declared before sessions came: %w", err)
	}
	s := &Sights{host: host, store: store, noted: make(map[string]manifest.Declared, len(entries))}
	for _, p := range entries {
		s.noted[p.Folder] = p.Declared
	}
	return s, nil
}

// Note remembers what the projects around and below a folder declare before a session comes to it and changes files at some paths, or
// below up to a pattern, each the first time. Those that come to be there later declare nothing. Nothing may run where this fails.
func (s *Sights) Note(folder string, changes []string) error {
	if folder == "" {
		return nil
	}
	err := s.note(existing(folder))
	for _, path := range changes {
		if at := strings.IndexAny(path, "*?[$("); at >= 0 {
			path = path[:at]
		}
		err = errors.Join(err, s.note(existing(absolute(folder, path))))
	}
	return err
}

func (s *Sights) note(folder string) error {
	root, _ := manifest.Root(folder)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isNoted(root) {
		return nil
	}
	var err error
	for _, project := range slices.Backward(projectsAt(root)) { // once a folder is noted, none below it is any more
		err = errors.Join(err, s.keep(project))
	}
	return err
}

// isNoted says that sessions came to a folder, or to one around it. An entry whose folder is not known stands for all.
func (s *Sights) isNoted(folder string) bool {
	for noted := range s.noted {
		if isWithin(folder, noted) {
			return true
		}
	}
	return false
}

// keep notes what the project of a root folder declares, unless it is noted. One that cannot be read declares nothing.
func (s *Sights) keep(root string) error {
	if s.isNoted(root) {
		return nil
	}
	declared, _ := manifest.Of(root)
	if err := s.store.Keep(ledger.ProjectAt(root, declared)); err != nil {
		return fmt.Errorf("remembering what %s declares before a session comes: %w", root, err)
	}
	s.noted[root] = declared
	return nil
}

// declared is what the project of a root folder declared before sessions came.
func (s *Sights) declared(root string) manifest.Declared {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noted[root]
}

// isWithin says that a path is a folder's or below it.
func isWithin(path, folder string) bool {
	return folder == "" || path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// projectsAt are a folder and the root folders of projects below it, the nearest first, as far as these are found.
func projectsAt(folder string) []string {
	roots, queue := []string{folder}, []string{folder}
	for looked := 0; looked < len(queue); looked++ {
		entries, _ := os.ReadDir(queue[looked]) // what cannot be read declares nothing
		for _, entry := range entries {
			below := filepath.Join(queue[looked], entry.Name())
			if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || len(queue) == maxFolders {
				continue
			}
			queue = append(queue, below)
			if manifest.IsRoot(below) {
				roots = append(roots, below)
			}
		}
	}
	return roots
}

// existing is the nearest folder around a path that is there, without links. Of the root of all files it is the folder in that which is
// to be made.
func existing(path string) string {
	last := filepath.Clean(path)
	for dir := last; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case dir == filepath.Dir(dir):
			return last
		case err == nil && info.IsDir():
			return resolved(dir)
		}
		last = dir
	}
}
