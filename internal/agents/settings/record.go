package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Records say of each file, by its path, what was written into it. They hold parts of settings as they were, so that they lie in
// the sidecar's state, which its user alone may read.
type Records struct {
	change Change
	files  map[string]fileRecord
}

// ReadRecords reads those that a file holds.
func ReadRecords(path string) (r Records, err error) {
	r.change, err = Read(path, "what the settings were before, for --remove", 0o600)
	r.files, r.change.IsRecord = map[string]fileRecord{}, true
	if err == nil && r.change.Before != "" {
		err = json.Unmarshal([]byte(r.change.Before), &r.files)
	}
	if err != nil {
		return r, fmt.Errorf("reading what was set up before (%s): %w", path, err)
	}
	return r, nil
}

// Change is that of the file itself.
func (r Records) Change() Change {
	if len(r.files) == 0 {
		r.change.After, r.change.Gone = "", r.change.Before != ""
		return r.change
	}
	r.change.After = string(JSON(r.files)) + "\n"
	return r.change
}

// Add notes a change of an agent's file, beside what was noted of it before.
func (r Records) Add(agent string, c Change) {
	if c.IsNone() {
		return
	}
	old, has := r.files[c.Path]
	base := c.Before
	if has {
		base, _ = old.takeBack(c.Path, c.Before)
	}
	now := recordOf(c.Path, base, c.After)
	now.Agent, now.New, now.Folders = agent, old.New, old.Folders
	if c.Before == "" && !Exists(c.Path) {
		now.New, now.Folders = true, union(missingFolders(c.Path), old.Folders)
	}
	r.files[c.Path] = now
}

// missingFolders are those that are made for a file, the innermost first.
func missingFolders(path string) (folders []string) {
	for folder := filepath.Dir(path); !Exists(folder); folder = filepath.Dir(folder) {
		folders = append(folders, folder)
	}
	return folders
}

// AddOnly notes a change of a file of the sidecar's, of some keys alone.
func (r Records) AddOnly(c Change, isNoted func(path []string) bool) {
	r.Add("", c)
	now, has := r.files[c.Path]
	if !has {
		return
	}
	now = fileRecord{Edits: slices.DeleteFunc(now.Edits, func(e edit) bool { return !isNoted(e.Path) })}
	if r.files[c.Path] = now; len(now.Edits) == 0 {
		delete(r.files, c.Path)
	}
}

// Has says whether anything is noted of an agent.
func (r Records) Has(agent string) bool {
	for _, f := range r.files {
		if f.Agent == agent {
			return true
		}
	}
	return false
}

// TakeBackText is the text of a file without what was noted of it, which is then forgotten.
func (r Records) TakeBackText(path, now string) string {
	text, _ := r.files[path].takeBack(path, now)
	delete(r.files, path)
	return text
}

// TakeBackFile has a file that belongs to no agent say what it said before, and forgets what was noted of it. The sentences say what
// stays.
func (r Records) TakeBackFile(c Change) (Change, []string) {
	f, has := r.files[c.Path]
	delete(r.files, c.Path)
	if !has || !Exists(c.Path) {
		return c, nil
	}
	text, stay := f.takeBack(c.Path, c.Before)
	c.After = text
	c = c.afterRecord(f)
	return c, c.staying(stay)
}

// TakeBack has an agent's files say again what they said before, and forgets what was noted of it. What bailiff has in them beside,
// which remove finds, goes, too. The sentences say what stays.
func (r Records) TakeBack(agent string, e Entry, remove func(Entry) ([]Change, error)) (changes []Change, stays []string, err error) {
	e.undone = map[string]string{}
	edits := map[string][]edit{}
	for path, f := range r.files {
		if now, err := os.ReadFile(path); f.Agent == agent && err == nil {
			e.undone[path], edits[path] = f.takeBack(path, string(now))
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	if changes, err = remove(e); err != nil {
		return nil, nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(e.undone)) {
		if slices.ContainsFunc(changes, func(c Change) bool { return c.Path == path }) {
			continue
		}
		c, err := e.Open(path, "says what it said before", 0o600)
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, c)
	}
	for i, c := range changes {
		changes[i] = c.afterRecord(r.files[c.Path])
		stays = append(stays, changes[i].staying(edits[c.Path])...)
	}
	maps.DeleteFunc(r.files, func(path string, f fileRecord) bool {
		return f.Agent == agent || slices.ContainsFunc(changes, func(c Change) bool { return c.Path == path })
	})
	return changes, stays, nil
}

// afterRecord removes a file that was made by a setup and says nothing more.
func (c Change) afterRecord(f fileRecord) Change {
	if !f.New || c.Before == "" && !Exists(c.Path) {
		return c
	}
	saysNothing := strings.TrimSpace(c.After) == ""
	if tree := readTree(c.Path, c.After); tree != nil {
		names, has := tree.keys(nil)
		saysNothing = has && len(names) == 0 && !strings.Contains(c.After, "#")
	}
	if saysNothing {
		c.After, c.Gone, c.folders = "", true, f.Folders
	}
	return c
}

// staying says which values stay, since a person changed them.
func (c Change) staying(edits []edit) (sentences []string) {
	if c.Gone {
		return nil
	}
	tree := readTree(c.Path, c.After)
	for _, e := range edits {
		switch {
		case tree == nil:
			sentences = append(sentences, c.Path+" was changed since it was set up, so it stays as it is.")
		case tree.value(e.Path) != nil:
			sentences = append(sentences, fmt.Sprintf("%s in %s is not as it was set up any more, so it stays as it is.",
				strings.Join(e.Path, "."), c.Path))
		}
	}
	return sentences
}
