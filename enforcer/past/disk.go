package past

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// How much is on disk at most. A session that was not used for so long begins anew; of sessions beyond the number of whole ones it
// is known only that there was something, and beyond the other one nothing.
const (
	maxAge    = 30 * 24 * time.Hour
	maxWhole  = 10_000
	maxKnown  = 100_000
	maxFile   = 16 << 20
	maxLines  = 1000 // of a file, before they are folded into one
	sweepEach = 1000 // files that are begun
	suffix    = ".jsonl"
)

// line is one of a file: the first says whose it is, and may be all that is known; each other is what one request did.
type line struct {
	Of    *owner `json:"of,omitempty"`
	State *state `json:"state,omitempty"`
	Did   *Deed  `json:"did,omitempty"`
}

// owner is the session of a file; of a user's file it is empty.
type owner struct {
	Caller  string `json:"caller,omitempty"`
	Session string `json:"session,omitempty"`
}

func ownerOf(of name) *owner {
	if of.session == "" {
		return nil
	}
	return &owner{of.caller, of.session}
}

// prepare makes the folder.
func (s *Store) prepare() error {
	if s.config.Dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.config.Dir, 0o700); err != nil {
		return fmt.Errorf("opening the histories of sessions: %w", err)
	}
	if err := records.Clear(s.config.Dir); err != nil {
		return err
	}
	s.sweep()
	return nil
}

// file is where a history is kept: the sessions of one id have names that begin alike.
func (s *Store) file(of name) string {
	return filepath.Join(s.config.Dir, beginningOf(of.session)+digest(of.caller, of.session, of.platform, of.user, of.day)+suffix)
}

func beginningOf(session string) string { return digest(session) + "-" }

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// load reads what is kept of a session or a user. What cannot be read leaves it incomplete.
func (s *Store) load(of name) *state {
	st := &state{}
	if s.config.Dir == "" {
		return st
	}
	text, err := records.Read(s.file(of), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return st
	}
	for one := range bytes.Lines(text) {
		var l line
		if wrong := decode(one, &l); wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		if l.State != nil {
			st = l.State
		}
		if l.Did != nil {
			st.add(*l.Did)
		}
		st.lines++
	}
	if err != nil {
		s.damaged(of, "reading", err)
		st.Incomplete = true
		s.fold(of, st)
	}
	return st
}

// decode reads a line strictly.
func decode(text []byte, l *line) error {
	if !bytes.HasSuffix(text, []byte("\n")) {
		return errors.New("the last line is cut")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(l)
	if err == nil && l.State == nil && l.Did == nil {
		err = errors.New("a line says nothing")
	}
	return err
}

// append writes down what a request did.
func (s *Store) append(of name, st *state, did Deed) {
	if s.config.Dir == "" {
		return
	}
	if st.lines++; st.lines > maxLines {
		s.fold(of, st)
		return
	}
	l := line{Did: &did}
	if st.lines == 1 {
		l.Of = ownerOf(of)
	}
	text, err := s.text(l)
	if err == nil {
		err = appendTo(s.file(of), text)
	}
	if err != nil {
		st.Incomplete = true
		s.damaged(of, "writing", err)
		return
	}
	if st.lines == 1 {
		s.noteBegun()
	}
}

// text is a line as it is written.
func (s *Store) text(l line) ([]byte, error) {
	text, err := json.Marshal(l)
	if s.config.Scrub != nil {
		text = s.config.Scrub(text)
	}
	return append(text, '\n'), err
}

func appendTo(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // of the state folder
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// fold writes all that is known as one line.
func (s *Store) fold(of name, st *state) {
	text, err := s.text(line{Of: ownerOf(of), State: st})
	if err == nil {
		err = records.Write(s.file(of), text, false)
	}
	if st.lines = 1; err != nil {
		st.Incomplete = true
		s.damaged(of, "writing", err)
	}
}

// drop removes the file of a session.
func (s *Store) drop(of name) {
	if s.config.Dir == "" {
		return
	}
	if err := os.Remove(s.file(of)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.damaged(of, "forgetting", err)
	}
}

// damaged tells that a history is not what it was.
func (s *Store) damaged(of name, doing string, err error) {
	s.config.Damaged()
	s.config.Log.Error("the history of a session is damaged, and incomplete from now on", "doing", doing, "session", of.session,
		"user", of.user, "file", s.file(of), "error", err)
}

// noteBegun sweeps now and then.
func (s *Store) noteBegun() {
	if s.made++; s.made >= sweepEach {
		s.made = 0
		s.sweep()
	}
}

// sweep removes what was not used for long, and the facts of the sessions that were used longest ago where there are too many.
func (s *Store) sweep() {
	all, err := s.aged("")
	if err != nil {
		s.config.Log.Error("the histories of sessions cannot be swept", "error", err)
		return
	}
	for n, f := range all {
		var err error
		switch {
		case time.Since(f.used) > maxAge || n >= maxKnown:
			err = os.Remove(f.path)
		case n >= maxWhole:
			of := readOwner(f.path)
			stub, _ := s.text(line{Of: &of, State: &state{Incomplete: true}})
			err = errors.Join(os.WriteFile(f.path, stub, 0o600), os.Chtimes(f.path, f.used, f.used))
		}
		if err != nil {
			s.config.Log.Error("the history of a session cannot be forgotten", "file", f.path, "error", err)
		}
	}
}
