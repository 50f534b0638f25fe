// Package records keeps entries of one kind on disk, each a file of its own, written
// beside and renamed, so that a reader finds an entry whole, as it was or as it is. The
// file's name is the entry's, which is why names are letters, digits and a few signs
// only. What is read must be what was written: an unknown or a wrong field, or another
// entry's name, is damage.
//
// Not here: what an entry means.
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	suffix     = ".json"
	unfinished = ".new-"
	// maxEntry bounds what is read of one file.
	maxEntry = 16 << 20
)

// Entry is one thing that is remembered, by a name of its own.
type Entry interface{ Key() string }

// Config says where a store is and what becomes of its entries.
type Config[T Entry] struct {
	// Dir is a folder for these entries alone.
	Dir string
	// Durable has [Store.Keep] return once the entry is on disk, not before.
	Durable bool
	// Clean returns an entry without what may not be on disk, such as secrets; nil
	// leaves it as it is.
	Clean func(T) T
	// Named is an entry whose file cannot be read, by the file's name and when it was
	// written; nil, or false, if it is dropped.
	Named func(key string, written time.Time) (T, bool)
	// Strict has [Store.All] fail at an entry that cannot be read, whose file stays; it is for entries of which a missing
	// one would allow something.
	Strict bool
	// Log is told of entries that cannot be read.
	Log *slog.Logger
}

// Store holds the entries of one kind. It may be used concurrently; who writes one
// entry twice at once finds either.
type Store[T Entry] struct{ config Config[T] }

// Open makes the folder if there is none, which no other user may read, and clears away what
// a writer that was killed had begun.
func Open[T Entry](c Config[T]) (*Store[T], error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(c.Dir, 0o700); err != nil {
		return nil, err
	}
	return &Store[T]{c}, Clear(c.Dir)
}

// Clear clears away what a [Write] in a folder had begun that was killed. It is for a
// start, before anything writes there; a folder that is not there is clear.
func Clear(dir string) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, file.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("clearing away what was not written to its end: %w", err)
	}
	return nil
}

var keyShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$`)

// Keep remembers an entry, in place of the one of the same key.
func (s *Store[T]) Keep(entry T) error {
	key := entry.Key()
	if !keyShape.MatchString(key) {
		return fmt.Errorf("remembering %q: want a name of letters, digits and _.- only", key)
	}
	if s.config.Clean != nil {
		entry = s.config.Clean(entry)
	}
	text, err := json.Marshal(entry)
	if err == nil {
		err = Write(s.path(key), text, s.config.Durable)
	}
	if err != nil {
		return fmt.Errorf("remembering %s: %w", key, err)
	}
	return nil
}

// Drop forgets the entry of a key; one that is not there is no fault.
func (s *Store[T]) Drop(key string) error {
	if !keyShape.MatchString(key) {
		return nil // it was never kept
	}
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forgetting %s: %w", key, err)
	}
	return s.sync()
}

// All reads every entry. What cannot be read is told to the log, or is the error of a strict store.
func (s *Store[T]) All() ([]T, error) {
	files, err := os.ReadDir(s.config.Dir)
	if err != nil {
		return nil, fmt.Errorf("reading what is remembered: %w", err)
	}
	var all []T
	for _, file := range files {
		key, ok := strings.CutSuffix(file.Name(), suffix)
		if !ok || strings.HasPrefix(key, unfinished) {
			continue
		}
		entry, ok, err := s.entry(key)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", s.path(key), err)
		}
		if ok {
			all = append(all, entry)
		}
	}
	return all, nil
}

func (s *Store[T]) entry(key string) (entry T, ok bool, err error) {
	entry, err = s.read(key)
	if errors.Is(err, os.ErrNotExist) {
		return entry, false, nil // it was dropped just now
	}
	if err == nil || s.config.Strict {
		return entry, err == nil, err
	}
	if info, lost := os.Lstat(s.path(key)); s.config.Named != nil && lost == nil {
		s.config.Log.Error("a record cannot be read; what it stands for is nobody's now", "file", s.path(key), "error", err)
		entry, ok = s.config.Named(key, info.ModTime())
		return entry, ok, nil
	}
	s.config.Log.Error("a record cannot be read and is dropped", "file", s.path(key), "error", errors.Join(err, s.Drop(key)))
	return entry, false, nil
}

// Read is the text of a regular file of the state folder, of so many bytes at most. No link is followed, and no pipe waited for.
func Read(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) //nolint:gosec // of the state folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	switch info, err := file.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > most:
		return nil, errors.New("it is too large")
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// read reads one entry strictly.
func (s *Store[T]) read(key string) (entry T, err error) {
	text, err := Read(s.path(key), maxEntry)
	if err != nil {
		return entry, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entry); err != nil {
		return entry, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return entry, errors.New("more than one entry")
	}
	if entry.Key() != key {
		return entry, fmt.Errorf("it is the entry %q", entry.Key())
	}
	return entry, nil
}

// sync has the folder on disk, if its entries must be.
func (s *Store[T]) sync() error {
	if !s.config.Durable {
		return nil
	}
	return Sync(s.config.Dir)
}

func (s *Store[T]) path(key string) string { return filepath.Join(s.config.Dir, key+suffix) }

// Write writes a file so that no reader ever sees a part of it, not even after the
// machine failed if it is to be durable. No other user may read it. A process that is killed at it
// leaves a file behind, which [Clear] removes.
func Write(path string, text []byte, durable bool) error { return write(path, text, 0o600, durable) }

// WriteAs is [Write] of a durable file whose mode is given.
func WriteAs(path string, text []byte, mode os.FileMode) error { return write(path, text, mode, true) }

func write(path string, text []byte, mode os.FileMode, durable bool) error {
	file, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(mode))
	if durable && err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	if !durable {
		return nil
	}
	return Sync(filepath.Dir(path))
}

// Sync has on disk what a folder holds: which files are there, not what is in them.
func Sync(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
