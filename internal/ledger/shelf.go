package ledger

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

// Shelf holds the entries of one kind. It may be used concurrently; who writes one
// entry twice at once finds either.
type Shelf[T Entry] struct {
	dir     string
	log     *slog.Logger
	durable bool
	// clean is what of an entry may be written; nil is all of it.
	clean func(T) T
	// named is an entry whose file cannot be read, by the file's name and when it was
	// written; nil if it is dropped.
	named func(key string, written time.Time) (T, bool)
}

var keyShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$`)

// Keep remembers an entry, in place of the one of the same key.
func (s *Shelf[T]) Keep(entry T) error {
	key := entry.Key()
	if !keyShape.MatchString(key) {
		return fmt.Errorf("remembering %q: want a name of letters, digits and _.- only", key)
	}
	if s.clean != nil {
		entry = s.clean(entry)
	}
	text, err := json.Marshal(entry)
	if err == nil {
		err = s.replace(s.path(key), text)
	}
	if err != nil {
		return fmt.Errorf("remembering %s: %w", key, err)
	}
	return nil
}

// Drop forgets the entry of a key; one that is not there is no fault.
func (s *Shelf[T]) Drop(key string) error {
	if !keyShape.MatchString(key) {
		return nil // it was never kept
	}
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forgetting %s: %w", key, err)
	}
	return s.sync()
}

// All reads every entry. What cannot be read is told to the log.
func (s *Shelf[T]) All() ([]T, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("reading what is remembered: %w", err)
	}
	var all []T
	for _, file := range files {
		key, ok := strings.CutSuffix(file.Name(), suffix)
		if !ok || strings.HasPrefix(key, unfinished) {
			continue
		}
		if entry, ok := s.entry(key); ok {
			all = append(all, entry)
		}
	}
	return all, nil
}

func (s *Shelf[T]) entry(key string) (entry T, ok bool) {
	entry, err := s.read(key)
	if err == nil {
		return entry, true
	}
	if errors.Is(err, os.ErrNotExist) {
		return entry, false // it was dropped just now
	}
	if info, lost := os.Lstat(s.path(key)); s.named != nil && lost == nil {
		s.log.Error("a record cannot be read; what it stands for is nobody's now", "file", s.path(key), "error", err)
		return s.named(key, info.ModTime())
	}
	s.log.Error("a record cannot be read and is dropped", "file", s.path(key), "error", errors.Join(err, s.Drop(key)))
	return entry, false
}

// read reads one entry strictly.
func (s *Shelf[T]) read(key string) (entry T, err error) {
	file, err := os.OpenFile(s.path(key), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) // what is no file may not be waited for
	if err != nil {
		return entry, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if what, err := file.Stat(); err != nil || !what.Mode().IsRegular() {
		return entry, errors.Join(errors.New("it is no regular file"), err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxEntry))
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

// replace writes a file so that no reader ever sees a part of it.
func (s *Shelf[T]) replace(path string, text []byte) error {
	file, err := os.CreateTemp(s.dir, unfinished+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if s.durable && err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return s.sync()
}

// sync has the folder on disk, if its entries must be.
func (s *Shelf[T]) sync() error {
	if !s.durable {
		return nil
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (s *Shelf[T]) path(key string) string { return filepath.Join(s.dir, key+suffix) }
