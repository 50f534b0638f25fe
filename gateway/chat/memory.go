package chat

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/records"
)

// Notes are what an account remembers over restarts: what its platform notes
// ([Memory]), which messages were taken up, and in which threads it took part. It is
// bounded: the oldest are forgotten first.
type Notes struct {
	shelf *records.Shelf[note]

	mu    sync.Mutex
	known map[string]string

	// seen are the messages that were taken up, joined the threads.
	seen, joined *roll
}

var _ Memory = (*Notes)(nil)

const (
	// seenAtMost messages are remembered, and up to as many before them: more than a
	// service delivers again.
	seenAtMost   = 10_000
	joinedAtMost = 5_000
)

// OpenNotes opens those in a folder of their own, which is made if there is none.
func OpenNotes(folder string, log *slog.Logger) (n *Notes, err error) {
	n = &Notes{known: map[string]string{}}
	if n.shelf, err = records.Open(records.Config[note]{Dir: filepath.Join(folder, "notes"), Log: log}); err != nil {
		return nil, fmt.Errorf("opening what a chat account remembers: %w", err)
	}
	all, err := n.shelf.All()
	if err != nil {
		return nil, err
	}
	for _, noted := range all {
		n.known[noted.Name] = noted.Value
	}
	n.seen, err = openRoll(filepath.Join(folder, "seen"), seenAtMost)
	if err == nil {
		n.joined, err = openRoll(filepath.Join(folder, "threads"), joinedAtMost)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening what a chat account remembers: %w", err), n.Close())
	}
	return n, nil
}

// Close lets go of the files.
func (n *Notes) Close() (err error) {
	for _, j := range []*roll{n.seen, n.joined} {
		if j != nil {
			err = errors.Join(err, j.close())
		}
	}
	return err
}

// note is one thing that a platform noted.
type note struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (n note) Key() string { return n.Name }

// Recall is what was noted under a key last; empty if nothing was.
func (n *Notes) Recall(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[key]
}

// Remember notes a value under a key, which is letters, digits and "_.-".
func (n *Notes) Remember(key, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[key] == value {
		return nil
	}
	if err := n.shelf.Keep(note{key, value}); err != nil {
		return err
	}
	n.known[key] = value
	return nil
}

// take says whether a message is new, and remembers it. One that could not be
// remembered is not new: it could run twice.
func (n *Notes) take(of Ref) (isNew bool, err error) {
	return n.seen.add(mark(of.Chat, of.Thread, of.Message))
}

// join remembers a thread.
func (n *Notes) join(at Place) error {
	_, err := n.joined.add(mark(at.Chat, at.Thread))
	return err
}

// tookPart says whether a thread is remembered.
func (n *Notes) tookPart(at Place) bool { return n.joined.has(mark(at.Chat, at.Thread)) }

// mark stands for a few texts, whatever is in them, in as many letters, digits and
// "-_" each time.
func mark(texts ...string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", texts)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// markLength is how long a mark is.
const markLength = 22

// roll is a set of marks that is on disk: a line each in a file, with the file before
// it. What is added is handed to the system, so that it survives the end of this process;
// it is not synced, so that a machine that fails may lose the last of them. Then the
// sidecar still knows the requests that they stood for by their ids.
type roll struct {
	path string

	// young are the marks of the file, of which there are most, old those of the one before.
	most int

	mu         sync.Mutex
	young, old map[string]bool
	file       *os.File
	torn       bool // the file may end within a line
}

func openRoll(path string, most int) (*roll, error) {
	j := &roll{path: path, most: most}
	for _, name := range []string{j.former(), path} {
		j.age()
		if err := j.read(name); err != nil {
			return nil, err
		}
	}
	return j, j.open()
}

func (j *roll) age() { j.old, j.young = j.young, map[string]bool{} }

func (j *roll) former() string { return j.path + ".old" }

// read reads the marks of a file. A line that is none was not written to its end.
func (j *roll) read(name string) error {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	for lines := bufio.NewReader(io.LimitReader(file, int64(2*j.most*(markLength+1)))); ; {
		line, err := lines.ReadString('\n')
		if m := strings.TrimSuffix(line, "\n"); len(m) == markLength {
			j.young[m] = true
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// open opens the file to be written on.
func (j *roll) open() (err error) {
	j.file, err = os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	j.torn = true // as far as anybody knows
	return err
}

// add adds a mark, and says whether it is new. With an error it is not added.
func (j *roll) add(m string) (isNew bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.young[m] {
		return false, nil
	}
	if err := j.write(m); err != nil {
		return false, fmt.Errorf("remembering in %s: %w", j.path, err)
	}
	j.young[m] = true
	return !j.old[m], nil
}

func (j *roll) has(m string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.young[m] || j.old[m]
}

func (j *roll) write(m string) error {
	if j.file == nil || len(j.young) >= j.most {
		if err := j.turn(); err != nil {
			return err
		}
	}
	line := m + "\n"
	if j.torn {
		line = "\n" + line
	}
	_, err := j.file.WriteString(line)
	j.torn = err != nil
	return err
}

// turn begins another file, and forgets the one before the last.
func (j *roll) turn() error {
	if err := j.close(); err != nil {
		return err
	}
	if len(j.young) >= j.most {
		if err := os.Rename(j.path, j.former()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		j.age()
	}
	return j.open()
}

func (j *roll) close() error {
	if j.file == nil {
		return nil
	}
	file := j.file
	j.file = nil
	return file.Close()
}
