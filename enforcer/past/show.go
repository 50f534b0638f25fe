package past

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// maxOwner is how long the line is at most from which an owner is read whole; of a longer one the beginning is.
const maxOwner = 64 << 10

// List are the sessions that were used last, the latest first.
func (s *Store) List(most int) ([]api.Session, error) { return s.list("", most) }

// list are those of the files whose names begin so.
func (s *Store) list(beginning string, most int) (all []api.Session, err error) {
	all = []api.Session{}
	if s.config.Dir == "" {
		return all, nil
	}
	files, err := s.aged(beginning)
	for _, f := range files {
		if len(all) == most {
			break
		}
		if of := readOwner(f.path); of.Session != "" {
			all = append(all, api.Session{ID: of.Session, Caller: of.Caller, LastUsed: f.used})
		}
	}
	return all, err
}

// readOwner is whose a file is; the zero value where that is not told.
func readOwner(path string) (of owner) {
	file, err := os.Open(path) //nolint:gosec // of the state folder
	if err != nil {
		return of
	}
	defer file.Close()
	head, _ := bufio.NewReader(file).Peek(maxOwner) // of a short file all
	decoder := json.NewDecoder(bytes.NewReader(head))
	for _, want := range []json.Token{json.Delim('{'), "of"} {
		if token, err := decoder.Token(); err != nil || token != want {
			return of
		}
	}
	if decoder.Decode(&of) != nil {
		return owner{}
	}
	return of
}

// Show is what a session did, of each caller that has one of that id.
func (s *Store) Show(session string) (all []api.SessionPast, err error) {
	known, err := s.list(beginningOf(session), maxKnown)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range known {
		if k.ID == session {
			kept := s.stateLocked(name{caller: k.Caller, session: k.ID})
			all = append(all, api.SessionPast{Session: k, History: kept.history(time.Now())})
		}
	}
	return all, err
}

// aged are the files of the folder whose names begin so, with the time of their last use, the latest first.
func (s *Store) aged(beginning string) (all []agedFile, err error) {
	files, err := os.ReadDir(s.config.Dir)
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), beginning) || !strings.HasSuffix(f.Name(), suffix) {
			continue
		}
		if info, err := f.Info(); err == nil {
			all = append(all, agedFile{filepath.Join(s.config.Dir, f.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b agedFile) int { return b.used.Compare(a.used) })
	return all, err
}

type agedFile struct {
	path string
	used time.Time
}
