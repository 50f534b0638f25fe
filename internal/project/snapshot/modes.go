package snapshot

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// modes are the permissions of plain files: those that most have, and the others by name. Git itself keeps only whether a file
// may be run.
type modes struct {
	Plain      fs.FileMode            `json:"plain"`
	Executable fs.FileMode            `json:"executable"`
	Others     map[string]fs.FileMode `json:"others"`
}

// modes are those of the last snapshot.
func (f *folder) modes(tree string) (*modes, error) {
	if tree == "" {
		return &modes{Others: map[string]fs.FileMode{}}, nil
	}
	text, err := os.ReadFile(filepath.Join(f.repo(), "in", "modes"))
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	return readModes(text)
}

func readModes(text []byte) (*modes, error) {
	all := &modes{}
	if err := json.Unmarshal(text, all); err != nil || all.Others == nil || all.Plain == 0 {
		return nil, errors.Join(errDamaged, err)
	}
	return all, nil
}

// of are a file's permissions.
func (m *modes) of(name string, executable bool) fs.FileMode {
	if perm, is := m.Others[name]; is {
		return perm
	}
	return *m.usual(executable)
}

func (m *modes) usual(executable bool) *fs.FileMode {
	if executable {
		return &m.Executable
	}
	return &m.Plain
}

func isExecutable(perm fs.FileMode) bool { return perm&0o100 != 0 }

func (m *modes) set(name string, perm fs.FileMode) (isNews bool) {
	was, is := m.Others[name]
	if perm == *m.usual(isExecutable(perm)) {
		delete(m.Others, name)
		return is
	}
	m.Others[name] = perm
	return !is || was != perm
}

// settle finds out which permissions most files have.
func (m *modes) settle() {
	counts := map[fs.FileMode]int{}
	for _, perm := range m.Others {
		counts[perm]++
	}
	m.Plain, m.Executable = 0o644, 0o755
	for perm, count := range counts {
		if usual := m.usual(isExecutable(perm)); count > counts[*usual] || count == counts[*usual] && perm < *usual {
			*usual = perm
		}
	}
	for name, perm := range m.Others {
		if perm == *m.usual(isExecutable(perm)) {
			delete(m.Others, name)
		}
	}
}
