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

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Store is the state of an account that outlives restarts: its platform's values
// ([Memory]), the messages that were taken, and the threads in which it took part. It is
// bounded: the oldest entries are forgotten first.
type Store struct {
	values *records.Store[storedValue]

	mu    sync.Mutex
	known map[string]string

	// seen are the messages that were taken, joined the threads.
	seen, joined *keySet
}

var _ Memory = (*Store)(nil)

const (
	// seenAtMost messages are remembered, and up to as many before those: more than a
	// service delivers again.
	seenAtMost   = 10_000
	joinedAtMost = 5_000
)

// OpenStore opens the store in a folder of its own, which is made if there is none.
func OpenStore(folder string, log *slog.Logger) (n *Store, err error) {
	n = &Store{known: map[string]string{}}
	if n.values, err = records.Open(records.Config[storedValue]{Dir: filepath.Join(folder, "notes"), Log: log}); err != nil {
		return nil, fmt.Errorf("opening what a chat account remembers: %w", err)
	}
	all, err := n.values.All()
	if err != nil {
		return nil, err
	}
	for _, noted := range all {
		n.known[noted.Name] = noted.Value
	}
	n.seen, err = openKeySet(filepath.Join(folder, "seen"), seenAtMost)
	if err == nil {
		n.joined, err = openKeySet(filepath.Join(folder, "threads"), joinedAtMost)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening what a chat account remembers: %w", err), n.Close())
	}
	return n, nil
}

// Close closes the files.
func (n *Store) Close() (err error) {
	for _, j := range []*keySet{n.seen, n.joined} {
		if j != nil {
			err = errors.Join(err, j.close())
		}
	}
	return err
}

// storedValue is a platform's value under its key.
type storedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (n storedValue) Key() string { return n.Name }

// Recall returns the value under a key; empty if there is none.
func (n *Store) Recall(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[key]
}

// Remember stores a value under a key, which is letters, digits and "_.-".
func (n *Store) Remember(key, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[key] == value {
		return nil
	}
	if err := n.values.Keep(storedValue{key, value}); err != nil {
		return err
	}
	n.known[key] = value
	return nil
}

// firstSeen says whether a message is new, and remembers it. A message that cannot be
// remembered is not new: it could run twice.
func (n *Store) firstSeen(of Ref) (isNew bool, err error) {
	return n.seen.add(keyOf(of.Chat, of.Thread, of.Message))
}

// join remembers a thread.
func (n *Store) join(at Place) error {
	_, err := n.joined.add(keyOf(at.Chat, at.Thread))
	return err
}

// tookPart says whether a thread is remembered.
func (n *Store) tookPart(at Place) bool { return n.joined.has(keyOf(at.Chat, at.Thread)) }

// keyOf stands for a few texts, whatever is in them, in as many letters, digits and
// "-_" each time.
func keyOf(texts ...string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", texts)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// keyLength is the length of a key.
const keyLength = 22

// keySet is a set of keys on disk, a line each in a file and in the file before it. A key
// is written but not synced: it outlives this process, but a machine that fails may lose
// the last ones. The sidecar then still knows their requests by id.
type keySet struct {
	path string

	// current are the keys of the file, at most so many; previous those of the file before.
	most int

	mu                sync.Mutex
	current, previous map[string]bool
	file              *os.File
	partialLine       bool // the file may end within a line
}

func openKeySet(path string, most int) (*keySet, error) {
	j := &keySet{path: path, most: most}
	for _, name := range []string{j.previousPath(), path} {
		j.rotate()
		if err := j.read(name); err != nil {
			return nil, err
		}
	}
	return j, j.open()
}

func (j *keySet) rotate() { j.previous, j.current = j.current, map[string]bool{} }

func (j *keySet) previousPath() string { return j.path + ".old" }

// read reads the keys of a file. Any other line was not written to its end.
func (j *keySet) read(name string) error {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	for lines := bufio.NewReader(io.LimitReader(file, int64(2*j.most*(keyLength+1)))); ; {
		line, err := lines.ReadString('\n')
		if m := strings.TrimSuffix(line, "\n"); len(m) == keyLength {
			j.current[m] = true
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
func (j *keySet) open() (err error) {
	j.file, err = os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	j.partialLine = true // as far as is known
	return err
}

// add adds a key, and says whether it is new. With an error it is not added.
func (j *keySet) add(m string) (isNew bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current[m] {
		return false, nil
	}
	if err := j.write(m); err != nil {
		return false, fmt.Errorf("remembering in %s: %w", j.path, err)
	}
	j.current[m] = true
	return !j.previous[m], nil
}

func (j *keySet) has(m string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.current[m] || j.previous[m]
}

func (j *keySet) write(m string) error {
	if j.file == nil || len(j.current) >= j.most {
		if err := j.nextFile(); err != nil {
			return err
		}
	}
	line := m + "\n"
	if j.partialLine {
		line = "\n" + line
	}
	_, err := j.file.WriteString(line)
	j.partialLine = err != nil
	return err
}

// nextFile begins a new file if the current one is full, and forgets the previous one.
func (j *keySet) nextFile() error {
	if err := j.close(); err != nil {
		return err
	}
	if len(j.current) >= j.most {
		if err := os.Rename(j.path, j.previousPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		j.rotate()
	}
	return j.open()
}

func (j *keySet) close() error {
	if j.file == nil {
		return nil
	}
	file := j.file
	j.file = nil
	return file.Close()
}
