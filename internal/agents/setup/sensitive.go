package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// mostLookedAt bounds how many files of a project are looked at.
const mostLookedAt = 200_000

// heavy are folders that hold others' files, and many.
var heavy = []string{".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", "vendor", "target"}

// Of these names the policies know only where they stand, or not at all, since they hold much
// else, too.
var (
	moreNames    = []string{".npmrc", "credentials"}
	moreSuffixes = []string{"pem"}
	harmlessEnv  = []string{".example", ".sample", ".template", ".dist"}
)

// secretNames are the names of files that usually hold secrets.
type secretNames struct{ names, suffixes map[string]any }

// secretNames are those that the policies' tables know, or else those of the shipped tables.
func (s *Survey) secretNames() (known secretNames, err error) {
	t, err := s.openTables()
	if err != nil {
		t, err = s.shippedTables()
	}
	for at, into := range map[string]*map[string]any{"names": &known.names, "suffixes": &known.suffixes} {
		said, wrong := t.doc.Value("bailiff", "tables", "paths", "reads", at)
		err = errors.Join(err, wrong)
		*into, _ = said.(map[string]any)
	}
	return known, err
}

var errEnough = errors.New("enough")

// sensitive are the files of the project that look like secrets by their names, relative to it.
func (s *Survey) sensitive() (found []string, err error) {
	known, err := s.secretNames()
	if err != nil {
		return nil, fmt.Errorf("reading which files hold secrets: %w", err)
	}
	project, looked := s.Project, 0
	err = filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if looked++; looked > mostLookedAt {
			return errEnough
		}
		switch {
		case err != nil && path == project:
			return err
		case err != nil: // a folder of another user, which commands could not read either
			return fs.SkipDir
		case entry.IsDir() && path != project && slices.Contains(heavy, entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && known.has(entry.Name()):
			name, _ := filepath.Rel(project, path)
			found = append(found, name)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("looking for secrets in the project: %w", err)
	}
	return found, nil
}

func (k secretNames) has(name string) bool {
	if name == ".env" || strings.HasPrefix(name, ".env.") {
		return !slices.ContainsFunc(harmlessEnv, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
	}
	suffix := strings.TrimPrefix(filepath.Ext(name), ".")
	return k.names[name] == credentials || slices.Contains(moreNames, name) ||
		k.suffixes[suffix] == credentials || slices.Contains(moreSuffixes, suffix)
}

// credentials is the tables' word for what holds secrets.
const credentials = "credentials"
