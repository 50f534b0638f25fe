// Package watermark keeps how far a sidecar saw the store go that several share, in a file of its state folder: the
// high-water mark. A store that is not as far at the next start has lost what this sidecar knows was there.
//
// Promised:
//
//   - A mark is on disk when [File.Write] has returned nil, and is never seen half written.
//   - A file that is not as it was written, or that another user could have written, is an error, and no mark.
//
// Not here: where in the store the mark is, and what follows from one that is missing there (internal/approval).
package watermark

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Mark is what the store had acknowledged under a sidecar's name.
type Mark struct {
	Replica string `json:"replica"`
	Number  int64  `json:"number"`
}

// File is where a mark is kept; the empty name keeps none.
type File string

// sealed is a mark with the hash of its text.
type sealed struct {
	Mark json.RawMessage `json:"mark"`
	Sum  string          `json:"sum"`
}

// mostBytes is more than any mark has.
const mostBytes = 4096

// Read returns the mark that was written last; zero if none ever was.
func (f File) Read() (m Mark, err error) {
	if f == "" {
		return Mark{}, nil
	}
	text, err := f.text()
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	if err == nil {
		m, err = parse(text)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("reading %s: %w", string(f), err)
	}
	return m, nil
}

func (f File) text() ([]byte, error) {
	file, err := os.OpenFile(string(f), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	owner, is := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case is && int(owner.Uid) != os.Geteuid():
		return nil, fmt.Errorf("it belongs to user %d, not to bailiff's user %d", owner.Uid, os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("others may write it (mode %04o): chmod 600 it", info.Mode().Perm())
	}
	return io.ReadAll(io.LimitReader(file, mostBytes))
}

func parse(text []byte) (m Mark, err error) {
	var s sealed
	if err := strict(text, &s); err != nil {
		return Mark{}, err
	}
	if s.Sum != sum(s.Mark) {
		return Mark{}, errors.New("it is not as it was written")
	}
	if err := strict(s.Mark, &m); err != nil {
		return Mark{}, err
	}
	if m.Replica == "" || m.Number <= 0 {
		return Mark{}, errors.New("it names no mark")
	}
	return m, nil
}

func strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the mark")
	}
	return nil
}

// Write keeps a mark.
func (f File) Write(m Mark) error {
	if f == "" {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	text, err = json.Marshal(sealed{Mark: text, Sum: sum(text)})
	if err != nil {
		return err
	}
	return records.Write(string(f), append(text, '\n'), true)
}

func sum(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
