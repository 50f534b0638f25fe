// Package history keeps on disk the policies that were in force: the last revisions of
// them, whole, and which one an operator has rolled back to.
//
// A revision is two files: what it is (package records), and the texts of its files. The
// first is written last, so that what is listed is there. A text that is not what came
// into force, by its digest, is damage, and damaged policies are never handed out: who
// asks for them is told which file is wrong. The word of an operator to roll back is a
// file too, and one that cannot be read is a fault, not the absence of a word.
//
// A user who may write here decides what comes into force with a rollback, so that only
// the sidecar's user may. Not here: what a policy is, and whether it is right (pdp).
package history

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// The ways by which policies come into force.
const (
	ByFiles    = "files"
	ByBundle   = "bundle"
	ByProgram  = "program" // they are part of bailiff
	ByRollback = "rollback"
)

// Kept is how many revisions are kept.
const Kept = 20

// Revision is one set of policies that was in force.
type Revision api.Revision

// Key names the entry.
func (r Revision) Key() string { return r.Name }

// File is one file of a revision.
type File struct {
	// Name is where it lay, Place where it lay below what was configured, Archive the
	// bundle that held it, if any.
	Name    string `json:"name"`
	Place   string `json:"place"`
	Archive string `json:"archive,omitempty"`
	Text    []byte `json:"text"`
}

// History is what is kept. It is for one writer at a time.
type History struct {
	Folder
	store *records.Store[Revision]
}

// Open opens the history in a folder of its own, making it if there is none.
func Open(dir string, log *slog.Logger) (*History, error) {
	store, err := records.Open(records.Config[Revision]{Dir: filepath.Join(dir, "revisions"), Durable: true, Log: log,
		Named: func(key string, written time.Time) (Revision, bool) {
			return Revision{Name: key, Since: written, Damaged: true}, true
		}})
	if err == nil {
		err = records.Clear(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the history of the policies: %w", err)
	}
	return &History{Folder(dir), store}, nil
}

// All are the revisions that are kept, the latest in force first.
func (h *History) All() ([]Revision, error) {
	all, err := h.store.All()
	slices.SortFunc(all, func(a, b Revision) int { return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Name, b.Name)) })
	return all, err
}

// Keep keeps what came into force, and drops what is older than the last [LastGood].
func (h *History) Keep(r Revision, files []File) error {
	text, err := pack(files)
	if err == nil {
		err = records.Write(h.texts(r.Name), text, true)
	}
	if err == nil {
		err = h.store.Keep(r)
	}
	if err != nil {
		return fmt.Errorf("keeping the policies that came into force: %w", err)
	}
	return h.prune()
}

func (h *History) prune() error {
	all, err := h.All()
	for _, old := range all[min(len(all), Kept):] {
		err = errors.Join(err, h.store.Drop(old.Name), os.Remove(h.texts(old.Name)))
	}
	if err != nil {
		return fmt.Errorf("dropping the oldest policies that were in force: %w", err)
	}
	return nil
}

// shortest is how much of a revision names it.
const shortest = 6

// Find is the one revision of that name, or whose name begins so.
func (h *History) Find(name string) (Revision, error) {
	all, err := h.All()
	if err != nil {
		return Revision{}, err
	}
	all = slices.DeleteFunc(all, func(r Revision) bool { return !strings.HasPrefix(r.Name, name) })
	switch {
	case len(name) < shortest:
		return Revision{}, fmt.Errorf("revision %q is %w: give at least %d of its letters", name, api.ErrRevisionUnknown, shortest)
	case len(all) == 0:
		return Revision{}, fmt.Errorf("revision %q is %w among the last %d that were in force", name, api.ErrRevisionUnknown, Kept)
	case len(all) > 1:
		return Revision{}, fmt.Errorf("revision %q is %w: %d begin so, give more of its letters", name, api.ErrRevisionUnknown, len(all))
	}
	return all[0], nil
}

// maxTexts bounds what is read of one revision, in bytes of JSON.
const maxTexts = 256 << 20

// Files are the files of a revision, as they came into force. Whether they are
// those is for the caller to see, by their digest.
func (h *History) Files(r Revision) ([]File, error) {
	path := h.texts(r.Name)
	if err := trust.Path(path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var files []File
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(plain, maxTexts))
	}
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return files, nil
}

func pack(files []File) ([]byte, error) {
	var text bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&text, gzip.BestSpeed) // each save waits for it
	if err != nil {
		return nil, err
	}
	err = json.NewEncoder(zipped).Encode(files)
	err = errors.Join(err, zipped.Close())
	return text.Bytes(), err
}

func (h *History) texts(name string) string {
	return filepath.Join(string(h.Folder), "revisions", filepath.Base(name)+".gz")
}

// RollBack keeps an operator's word on which revision is to be in force.
func (h *History) RollBack(word api.Rollback) error {
	text, err := json.Marshal(word)
	if err == nil {
		err = records.Write(h.RollbackFile(), text, true)
	}
	if err != nil {
		return fmt.Errorf("keeping the word to roll back: %w", err)
	}
	return nil
}

// Resume drops that word.
func (h *History) Resume() error {
	if err := os.Remove(h.RollbackFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("dropping the word to roll back: %w", err)
	}
	return records.Sync(string(h.Folder))
}

// Folder is where a history lies, which another process may have open.
type Folder string

// RolledBack is the word that holds, nil if there is none.
func (f Folder) RolledBack() (*api.Rollback, error) {
	file := f.RollbackFile()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var word api.Rollback
	if err == nil {
		err = trust.Path(file)
	}
	if err == nil {
		err = json.Unmarshal(text, &word)
	}
	if err == nil && word.Revision == "" {
		err = errors.New("it names no revision")
	}
	if err != nil {
		return nil, fmt.Errorf("reading which policies an operator rolled back to: %w; move %s away to have those of the configuration "+
			"in force", err, file)
	}
	return &word, nil
}

// RollbackFile holds the word of an operator.
func (f Folder) RollbackFile() string { return filepath.Join(string(f), "rollback.json") }
