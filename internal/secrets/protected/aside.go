package protected

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kept is a change that was put back, of which both versions are there.
type Kept struct {
	// Source is the folder of the change, Path the place, Kept where the changed version is, as the host calls them.
	Source string    `json:"source"`
	Path   string    `json:"path"`
	Kept   string    `json:"kept"`
	At     time.Time `json:"at"`
	// Sum is the SHA-256 of the changed version, empty if it is no file. It is what a person takes, and nothing that was written since.
	Sum string `json:"sum,omitempty"`
	// IsNested says that it is a git directory of a folder within the source.
	IsNested bool `json:"nested,omitempty"`
}

// ErrNotKept says that no changed version of a path is kept aside.
var ErrNotKept = errors.New("no change of it is kept aside")

// mostKept is how many changes are remembered, the latest.
const mostKept = 200

// Remember keeps in mind what was put back, for a person who wants the changed version.
func (k *Keeper) Remember(changes []Change) error {
	k.asideMu.Lock()
	defer k.asideMu.Unlock()
	k.load()
	for _, c := range changes {
		if c.Kept != "" {
			k.aside = append(k.aside, Kept{Source: c.source, Path: c.Path, Kept: c.Kept, At: time.Now().UTC(),
				Sum: sumOf(c.source, c.Kept), IsNested: c.IsNested})
		}
	}
	return k.save()
}

// Aside are the changes of which the changed version is still there, the latest last.
func (k *Keeper) Aside() []Kept {
	k.asideMu.Lock()
	defer k.asideMu.Unlock()
	k.load()
	return slices.DeleteFunc(slices.Clone(k.aside), func(one Kept) bool { return one.IsNested && !one.isInPlace() })
}

// load reads what an earlier sidecar remembered, and forgets what is there no more.
func (k *Keeper) load() {
	if k.File != "" && !k.isLoaded {
		text, err := os.ReadFile(k.File)
		if err == nil && json.Unmarshal(text, &k.aside) != nil {
			k.aside = nil // what cannot be read lies beside its place all the same
		}
	}
	k.isLoaded = true
	k.aside = slices.DeleteFunc(k.aside, func(one Kept) bool {
		_, err := os.Lstat(one.Kept)
		return errors.Is(err, fs.ErrNotExist)
	})
	k.aside = k.aside[max(0, len(k.aside)-mostKept):]
}

func (k *Keeper) save() error {
	if k.File == "" {
		return nil
	}
	text, err := json.Marshal(k.aside)
	if err != nil {
		return err
	}
	if err := os.WriteFile(k.File+".new", text, 0o600); err != nil {
		return fmt.Errorf("remembering what was put back: %w", err)
	}
	return os.Rename(k.File+".new", k.File)
}

// sumOf is the digest of a file in a folder, empty if it is none that is read.
func sumOf(source, name string) string {
	root, err := os.OpenRoot(source)
	if err != nil {
		return ""
	}
	defer root.Close()
	rel := strings.TrimPrefix(name, source+"/")
	now, err := look(root, rel)
	if err != nil || now.kind != file || now.read(root, rel) != nil {
		return ""
	}
	return hexSum(now.content)
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Adopt puts the changed version of a place there, as a person wants it: the latest one of that path, or the one that lies at it. What
// was there before is kept in its turn. The error wraps [ErrNotKept] where there is none.
func (k *Keeper) Adopt(name string) (Kept, error) {
	name = filepath.Clean(name)
	k.asideMu.Lock()
	defer k.asideMu.Unlock()
	k.load()
	for i := len(k.aside) - 1; i >= 0; i-- {
		one := k.aside[i]
		if one.IsNested || one.Path != name && one.Kept != name {
			continue
		}
		former, err := k.of(one.Source).adopt(one)
		if err != nil {
			return Kept{}, fmt.Errorf("taking the changed version of %s: %w", one.Path, err)
		}
		k.aside = slices.Delete(k.aside, i, i+1)
		if former.Kept != "" {
			k.aside = append(k.aside, former)
		}
		return former, k.save()
	}
	return Kept{}, fmt.Errorf("%s: %w", name, ErrNotKept)
}

// adopt exchanges the two versions of a place. While commands run in the folder, they are compared with the adopted one.
func (f *watched) adopt(one Kept) (former Kept, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.release()
	if err := f.hold(); err != nil {
		return former, err
	}
	name, kept := strings.TrimPrefix(one.Path, f.source+"/"), strings.TrimPrefix(one.Kept, f.source+"/")
	wish, err := look(f.root, kept)
	if err == nil && one.Sum != "" {
		err = wish.read(f.root, kept)
	}
	switch {
	case err != nil:
		return former, err
	case wish.kind == absent || wish.kind == other:
		return former, ErrNotKept
	case one.Sum != hexSumOf(wish):
		return former, fmt.Errorf("%s was changed since it was set aside; look at it, and copy it yourself", one.Kept)
	}
	was, err := look(f.root, name)
	if err != nil {
		return former, err
	}
	aside, err := setAside(f.root, name)
	if err != nil {
		return former, err
	}
	former = Kept{Source: f.source, Path: one.Path, At: time.Now().UTC()}
	if aside != "" {
		former.Kept = path.Join(f.source, aside)
		former.Sum = sumOf(f.source, former.Kept)
	}
	if err := f.exchange(name, kept, was, wish); err != nil {
		return former, err
	}
	if s, isHeld := f.states[name]; isHeld {
		if now, err := look(f.root, name); err == nil && now.sumUp(f.root, name) == nil {
			f.keep(name, now, s.pattern)
		}
	}
	return former, nil
}

// hexSumOf is the digest of a file that was read, empty of anything else.
func hexSumOf(s state) string {
	if s.content == nil {
		return ""
	}
	return hexSum(s.content)
}

// exchange writes a file anew, so that no other name leads to it, as its owner's; a folder, a link and a large file are moved.
func (f *watched) exchange(name, kept string, was, wish state) error {
	if wish.content == nil {
		return f.root.Rename(kept, name)
	}
	owner := was
	if was.kind == absent {
		above, err := f.root.Lstat(".")
		if err != nil {
			return err
		}
		if owner, err = stateOf(f.root, ".", above); err != nil {
			return err
		}
	}
	wish.uid, wish.gid = owner.uid, owner.gid
	if err := wish.write(f.root, name); err != nil {
		return err
	}
	return f.root.Remove(kept)
}
