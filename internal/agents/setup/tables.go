package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
	"github.com/bailiff-dev/bailiff/policies"
)

// policiesFolder lies beside bailiff.yaml where that names no policies.
const policiesFolder = "policies"

// CopiedPolicies is why the many files are written that say what the built-in policies say.
const CopiedPolicies = "the shipped policies"

// cli is the row of the table platforms by which agents at a terminal are judged.
var cli = []string{"bailiff", "tables", "platforms", "cli"}

// tables is the file that holds that row.
type tables struct {
	path string
	doc  *yamledit.Document
	text string // as it was read
	// shipped says that no policies are named yet, so that these are the built-in ones.
	shipped bool
}

// byHand is why a row is not written, with the row.
func (s *Survey) byHand(why string) error {
	if s.Backend == "" { // none is chosen yet, or the row is to go
		return fmt.Errorf("%s: edit platforms.cli.mounts there yourself. To add the project, write a row there that shows %s; to remove "+
			"it, take that row away", why, s.Project)
	}
	return fmt.Errorf("%s: write this row there yourself, under platforms.cli.mounts.%s: %s", why, s.Backend, yamledit.Flow(s.row()))
}

func (s *Survey) row() map[string]any {
	return map[string]any{"source": s.Project, "target": s.Project, "read_only": false}
}

func (s *Survey) openTables() (tables, error) {
	if s.cfg.Policies.Bundle != nil {
		return tables{}, s.byHand("the policies come from " + s.cfg.Policies.Bundle.URL)
	}
	if len(s.cfg.Policies.Paths) == 0 {
		return s.shippedTables()
	}
	for _, path := range s.cfg.Policies.Paths {
		if about, err := os.Stat(path); err == nil && about.IsDir() {
			path = filepath.Join(path, "data.yaml")
		}
		if filepath.Base(path) != "data.yaml" {
			continue
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return tables{}, fmt.Errorf("reading the tables: %w", err)
		}
		doc, err := yamledit.Parse(string(text))
		if err != nil {
			return tables{}, fmt.Errorf("reading %s: %w", path, err)
		}
		if doc.Node(cli...) != nil {
			return tables{path: backends.RealPath(path), doc: doc, text: string(text)}, nil
		}
	}
	return tables{}, s.byHand("no data.yaml of policies.paths in " + s.File + " has the row platforms.cli")
}

func (s *Survey) shippedTables() (tables, error) {
	text, err := policies.FS.ReadFile("data.yaml")
	if err != nil {
		return tables{}, err
	}
	doc, err := yamledit.Parse(string(text))
	path := filepath.Join(filepath.Dir(s.File), policiesFolder, "data.yaml")
	return tables{path: path, doc: doc, text: string(text), shipped: true}, err
}

// mounts are the rows by which a backend shows folders.
func (t tables) mounts(backend string) (rows []any, err error) {
	said, err := t.doc.Value(slices.Concat(cli, []string{"mounts", backend})...)
	rows, _ = said.([]any)
	return rows, err
}

// source is the folder that a row shows.
func source(row any) string {
	entries, _ := row.(map[string]any)
	path, _ := entries["source"].(string)
	return path
}

// tableChanges has the policies show the project, writable.
func (s *Survey) tableChanges(a Answers) ([]settings.Change, error) {
	t, err := s.openTables()
	if err != nil {
		return nil, err
	}
	rows, err := t.mounts(s.Backend)
	if err != nil {
		return nil, s.byHand(t.path + " cannot be read")
	}
	path := slices.Concat(cli, []string{"mounts", s.Backend})
	if own := slices.DeleteFunc(slices.Clone(rows), s.isSharedCache); len(own) != len(rows) {
		rows = own
		err = t.doc.Set(rows, path...)
	}
	switch at := slices.IndexFunc(rows, func(row any) bool { return source(row) == s.Project }); {
	case at < 0:
		err = errors.Join(err, t.doc.Append(s.row(), path...))
	case !isSame(rows[at], s.row()):
		rows[at] = s.row()
		err = errors.Join(err, t.doc.Set(rows, path...))
	}
	if s.Modules != "" && a.ShowModules {
		err = errors.Join(err, s.appendModules(t.doc, path))
	}
	if a.ObserveDays != 0 {
		err = errors.Join(err, observe(t.doc, a.ObserveDays, time.Now()))
	}
	if err = errors.Join(err, s.appendAuthor(t.doc, path)); err != nil {
		return nil, s.byHand(fmt.Sprintf("%s: %v", t.path, err))
	}
	why := "shows " + s.Project + " inside, writable"
	if a.ObserveDays != 0 {
		why += fmt.Sprintf("; rules without a row are only observed for %d days", a.ObserveDays)
	}
	if t.shipped {
		return s.copied(t, why)
	}
	return []settings.Change{{Path: t.path, Why: why, Before: t.text, After: t.doc.String(), Mode: 0o644}}, nil
}

// isSame says whether a row shows the folder at its own path, writable; lists of its own stay.
func isSame(row any, want map[string]any) bool {
	entries, _ := row.(map[string]any)
	return entries["target"] == want["target"] && entries["read_only"] == want["read_only"]
}

// copied are the built-in policies as files, with the tables changed.
func (s *Survey) copied(t tables, why string) (changes []settings.Change, err error) {
	folder := filepath.Dir(t.path)
	if settings.Exists(folder) {
		return nil, fmt.Errorf("%s is there already, and %s does not name it: name it there by policies: {paths: [%s]}, or move it away",
			folder, s.File, policiesFolder)
	}
	err = fs.WalkDir(policies.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "data.yaml" {
			return err
		}
		text, err := policies.FS.ReadFile(name)
		changes = append(changes, settings.Change{Path: filepath.Join(folder, filepath.FromSlash(name)), Why: CopiedPolicies,
			After: string(text), Mode: 0o644})
		return err
	})
	return append(changes, settings.Change{Path: t.path, Why: why, After: t.doc.String(), Mode: 0o644, Like: t.text}), err
}

// untable takes the project's rows away, and says which folders are shown still.
func (s *Survey) untable() (changes []settings.Change, left []string, err error) {
	if len(s.cfg.Policies.Paths) == 0 && s.cfg.Policies.Bundle == nil {
		return nil, nil, nil
	}
	t, err := s.openTables()
	if err != nil {
		return nil, nil, err
	}
	said, err := t.doc.Value(slices.Concat(cli, []string{"mounts"})...)
	shown, _ := said.(map[string]any)
	left = s.leave(shown)
	for backend, list := range shown {
		rows, _ := list.([]any)
		kept := slices.DeleteFunc(slices.Clone(rows), func(row any) bool { return s.isRemoved(source(row)) })
		if len(kept) != len(rows) && err == nil {
			err = t.doc.Set(kept, slices.Concat(cli, []string{"mounts", backend})...)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: take the row of %s away yourself", t.path, err, s.Project)
	}
	return []settings.Change{{Path: t.path, Why: "shows " + s.Project + " no longer", Before: t.text, After: t.doc.String()}}, left, nil
}

// leave finds which projects are shown still once this one is not. With the last of them go the other rows.
func (s *Survey) leave(shown map[string]any) (left []string) {
	var needless []string
	for _, list := range shown {
		rows, _ := list.([]any)
		for _, row := range rows {
			switch path := source(row); {
			case !isProject(row):
				needless = append(needless, path)
			case path != s.Project:
				left = append(left, path)
			}
		}
	}
	if len(left) == 0 {
		s.removed = needless
	}
	return left
}

func (s *Survey) isRemoved(path string) bool {
	return path == s.Project || slices.Contains(s.removed, path)
}

// MissingFolders are the folders of other projects that are not there any more: while a row names one, no
// sandbox is made at all.
func (s *Survey) MissingFolders() (gone []string) {
	t, err := s.openTables()
	if err != nil {
		return nil
	}
	rows, _ := t.mounts(s.Backend)
	for _, row := range rows {
		if path := source(row); path != s.Project && isProject(row) && !settings.Exists(path) {
			gone = append(gone, path)
		}
	}
	return gone
}
