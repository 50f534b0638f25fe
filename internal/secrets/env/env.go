// Package env holds the variables that may be forwarded into sandboxes, read
// from sources in order: the sidecar's own environment ("process") and dotenv
// files ("file:/path", "file:~/path").
//
// The first source that has a name gives its value. A file is read again when
// it has changed. While a file cannot be read or understood it may hold any
// name, so it and every source after it answer nothing: a value that the file
// should have overridden is never forwarded in its place.
//
// A dotenv file holds "NAME=value" or "export NAME=value" lines, comments after
// "#", and values bare, in single quotation marks (where a backslash escapes
// only itself and the mark) or in double ones (\n, \t and the like); quoted
// values may span lines, and of two lines with one name the last counts.
// Nothing is ever expanded or run: "$X", "${X}" and "$(x)" stay as they are.
//
// Values leave the package as [bailiff.Secret], and no error or warning quotes
// a line.
package env

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// Sources are the variables of all sources. They may be used concurrently.
type Sources struct {
	mu         sync.Mutex
	list       []source
	asked      map[string]bool // names whose values were handed out
	generation uint64
}

// source is either a file or variables that never change.
type source struct {
	file  *file
	fixed map[string]string
}

// Open returns the sources as listed, with "~" standing for home. A file that
// cannot be read is not an error here but one of [Sources.Err], since it may
// come to be readable.
func Open(names []string, home string) (*Sources, error) {
	s := &Sources{asked: map[string]bool{}, generation: 1}
	for _, name := range names {
		opened, err := open(name, home)
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, opened)
	}
	s.refresh()
	return s, nil
}

func open(name, home string) (source, error) {
	path, isFile := strings.CutPrefix(name, "file:")
	if name == "process" {
		return source{fixed: ofProcess()}, nil
	}
	if rest, found := strings.CutPrefix(path, "~/"); found && home != "" {
		path = filepath.Join(home, rest)
	}
	if !isFile || !filepath.IsAbs(path) {
		return source{}, fmt.Errorf("reading variables: unknown source %q, want process or file:/absolute/path or file:~/path", name)
	}
	return source{file: &file{path: path}}, nil
}

func ofProcess() map[string]string {
	variables := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, found := strings.Cut(pair, "="); found && name != "" {
			variables[name] = value
		}
	}
	return variables
}

// Read returns the variables of one dotenv file as it is now.
func Read(path string) (map[string]bailiff.Secret, error) {
	variables, err := (&file{path: path}).load()
	if err != nil {
		return nil, fmt.Errorf("reading variables: %w", err)
	}
	secret := make(map[string]bailiff.Secret, len(variables))
	for name, value := range variables {
		secret[name] = bailiff.NewSecret(value)
	}
	return secret, nil
}

// Available returns those of the names that some source has, each once, in the
// order given.
func (s *Sources) Available(names []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	available := []string{}
	seen := map[string]bool{}
	for _, name := range names {
		if _, ok := s.lookUp(name); ok && !seen[name] {
			seen[name] = true
			available = append(available, name)
		}
	}
	return available
}

// Value returns the value of a name in the first source that has it.
func (s *Sources) Value(name string) (bailiff.Secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	value, ok := s.lookUp(name)
	if !ok {
		return bailiff.Secret{}, false
	}
	if !s.asked[name] {
		s.asked[name] = true
		s.generation++
	}
	return bailiff.NewSecret(value), true
}

// Err says which sources cannot be read; it is nil when all can.
func (s *Sources) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	var errs []error
	for _, src := range s.list {
		if src.file != nil {
			errs = append(errs, src.file.err)
		}
	}
	return errors.Join(errs...)
}

// Warnings are sentences about files that more people than their owner may read.
func (s *Sources) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	var warnings []string
	for _, src := range s.list {
		if src.file != nil && src.file.loose {
			warnings = append(warnings, fmt.Sprintf("%s holds secrets and more than its owner may read it: chmod 600 %[1]s", src.file.path))
		}
	}
	return warnings
}

// Generation changes whenever [Sources.Secrets] would yield something else. It
// is brought up to date by every other call, not by itself.
func (s *Sources) Generation() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// Secrets yields the values, in all sources, of the names that look secret and
// of those ever handed out. A name comes once for each of its values.
func (s *Sources) Secrets() iter.Seq2[string, bailiff.Secret] {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := maps.Clone(s.asked)
	var held []map[string]string
	for _, src := range s.list {
		held = append(held, src.variables()) // replaced as a whole, never changed
	}
	return func(yield func(string, bailiff.Secret) bool) {
		for _, variables := range held {
			for name, value := range variables {
				if (asked[name] || looksSecret(name)) && !yield(name, bailiff.NewSecret(value)) {
					return
				}
			}
		}
	}
}

func (s *Sources) refresh() {
	for _, src := range s.list {
		if src.file != nil && src.file.refresh() {
			s.generation++
		}
	}
}

func (s *Sources) lookUp(name string) (string, bool) {
	for _, src := range s.list {
		if value, ok := src.variables()[name]; ok {
			return value, true
		}
		if src.file != nil && src.file.err != nil {
			return "", false
		}
	}
	return "", false
}

func (s source) variables() map[string]string {
	if s.file != nil {
		return s.file.variables
	}
	return s.fixed
}
