package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
)

// fileRecords say of each file, by its path, what was written into it. They hold parts of settings as they were, so that they lie in
// the sidecar's state, which its user alone may read.
type fileRecords struct {
	change Change
	files  map[string]fileRecord
}

// recordsFile is where they are.
func (s *Survey) recordsFile() string {
	return backends.Resolved(filepath.Join(s.cfg.StateDir, "setup.json"))
}

func (s *Survey) readRecords() (r fileRecords, err error) {
	r.change, err = readFile(s.recordsFile(), "what the settings were before, for --remove", 0o600)
	r.files, r.change.isRecord = map[string]fileRecord{}, true
	if err == nil && r.change.Before != "" {
		err = json.Unmarshal([]byte(r.change.Before), &r.files)
	}
	if err != nil {
		return r, fmt.Errorf("reading what was set up before (%s): %w", s.recordsFile(), err)
	}
	return r, nil
}

// write is the change of the file itself.
func (r fileRecords) write() Change {
	if len(r.files) == 0 {
		r.change.After, r.change.Gone = "", r.change.Before != ""
		return r.change
	}
	r.change.After = string(encoded(r.files)) + "\n"
	return r.change
}

// add notes a change of an agent's file, beside what was noted of it before.
func (r fileRecords) add(agent string, c Change) {
	if c.isNone() {
		return
	}
	old, has := r.files[c.Path]
	base := c.Before
	if has {
		base, _ = old.takeBack(c.Path, c.Before)
	}
	now := recordOf(c.Path, base, c.After)
	now.Agent, now.New, now.Folders = agent, old.New, old.Folders
	if c.Before == "" && !isThere(c.Path) {
		now.New, now.Folders = true, union(missingFolders(c.Path), old.Folders)
	}
	r.files[c.Path] = now
}

// missingFolders are those that are made for a file, the innermost first.
func missingFolders(path string) (folders []string) {
	for folder := filepath.Dir(path); !isThere(folder); folder = filepath.Dir(folder) {
		folders = append(folders, folder)
	}
	return folders
}

// addWeakening notes what a change of bailiff.yaml has written there of what weakens bailiff.
func (r fileRecords) addWeakening(c Change) {
	r.add("", c)
	now, has := r.files[c.Path]
	if !has {
		return
	}
	now = fileRecord{Edits: slices.DeleteFunc(now.Edits, func(e edit) bool { return !isWeakening(e.Path) })}
	if r.files[c.Path] = now; len(now.Edits) == 0 {
		delete(r.files, c.Path)
	}
}

// isWeakening says whether a key of bailiff.yaml is one that setup writes only by a person's yes.
func isWeakening(path []string) bool {
	return slices.Equal(path, []string{"operator", "allow_same_user"}) ||
		len(path) == 3 && path[0] == "backends" && path[2] == acceptMissing
}

// record notes what is to be written, before it is.
func (s *Survey) record(author, configured Change, asked []Change) (Change, error) {
	r, err := s.readRecords()
	if err != nil {
		return Change{}, err
	}
	r.add("", author)
	r.addWeakening(configured)
	for _, c := range asked {
		r.add(s.in.Agent, c)
	}
	return r.write(), nil
}

// recordTrust notes what the agent itself wrote into its settings when it was told to trust the hooks.
func (s *Survey) recordTrust(trust func() error) error {
	var before []Change
	for _, path := range s.agent.settings(s.Entry()) {
		c, err := readFile(path, "", 0o600)
		if err != nil {
			return err
		}
		before = append(before, c)
	}
	if err := trust(); err != nil {
		return err
	}
	r, err := s.readRecords()
	if err != nil {
		return err
	}
	for _, c := range before {
		now, err := readFile(c.Path, "", 0o600)
		if err != nil {
			return err
		}
		c.After = now.Before
		r.add(s.in.Agent, c)
	}
	if c := r.write(); !c.isNone() {
		return Write([]Change{c})
	}
	return nil
}

// takeBackAgent has the agent's files say again what they said before. What bailiff has in them beside goes, too.
func (s *Survey) takeBackAgent(r fileRecords) ([]Change, error) {
	e := s.Entry()
	e.undone = map[string]string{}
	stay := map[string][]edit{}
	for path, f := range r.files {
		if now, err := os.ReadFile(path); f.Agent == s.in.Agent && err == nil {
			e.undone[path], stay[path] = f.takeBack(path, string(now))
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	changes, err := s.agent.remove(e)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(e.undone)) {
		if slices.ContainsFunc(changes, func(c Change) bool { return c.Path == path }) {
			continue
		}
		c, err := e.open(path, "says what it said before", 0o600)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	s.tellUnrecorded(r, e)
	for i, c := range changes {
		changes[i] = c.afterRecord(r.files[c.Path])
		s.tellStaying(changes[i], stay[c.Path])
		delete(r.files, c.Path)
	}
	maps.DeleteFunc(r.files, func(_ string, f fileRecord) bool { return f.Agent == s.in.Agent })
	return changes, nil
}

// afterRecord removes a file that was made by a setup and says nothing more.
func (c Change) afterRecord(f fileRecord) Change {
	if !f.New || c.Before == "" && !isThere(c.Path) {
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

// tellStaying says which values stay, since a person changed them.
func (s *Survey) tellStaying(c Change, stay []edit) {
	if c.Gone {
		return
	}
	tree := readTree(c.Path, c.After)
	for _, e := range stay {
		switch {
		case tree == nil:
			s.Stays = append(s.Stays, c.Path+" was changed since it was set up, so it stays as it is.")
		case tree.value(e.Path) != nil:
			s.Stays = append(s.Stays, fmt.Sprintf("%s in %s is not as it was set up any more, so it stays as it is.",
				strings.Join(e.Path, "."), c.Path))
		}
	}
}

// unrecorded is an agent with settings that stay where nothing says what they were before.
type unrecorded interface{ staying(e Entry) []string }

// tellUnrecorded says what stays of a setup that kept no record.
func (s *Survey) tellUnrecorded(r fileRecords, e Entry) {
	for _, f := range r.files {
		if f.Agent == s.in.Agent {
			return
		}
	}
	if a, ok := s.agent.(unrecorded); ok {
		s.Stays = append(s.Stays, a.staying(e)...)
	}
}
