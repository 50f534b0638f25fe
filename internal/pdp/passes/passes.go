// Package passes remembers which tests of policies passed, so that a test is evaluated again only where something that
// it can read has changed.
//
// Here: what a test can read, as a digest ([Reads]); the build of this program ([Build]); what passed, in memory and on
// the disk ([Memory]).
//
// What is promised: the key of a test names all that its evaluation can depend on. That are the rules that it may reach,
// as they were compiled, where a dynamic reference counts as all that it may reach; the data that these rules name, but
// for those that a "with" replaces wherever the test comes to them; and the build of the program, with which OPA and its
// capabilities come. A test that reaches a built-in whose result varies has no key, and neither has one of which a part is
// of a kind that is not known here. Nothing of it is taken from a file's date, name or place.
//
// The file on the disk is sealed with a key of the state folder. A file that is damaged, or is of another build, folder or
// user, is ignored, so that losing it costs time only. Nothing compiled is kept.
//
// Not here: running tests; that policies compile, which is tried for every set of files.
package passes

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Key names one thing that passed: a test with all that it can read, or a set of files.
type Key [sha256.Size]byte

// maxBytes bounds the file, and with it what is in memory: the results of some 300 sets of policies that have nothing in common.
const maxBytes = 4<<20 - 1<<10

// magic is how the file begins; another format has another.
const magic = "bailiff passes 1\n"

// Memory holds what passed. It is safe for concurrent use. The zero value is empty and on no disk; a nil one keeps nothing.
type Memory struct {
	dir      string
	build    Key
	writable bool

	mu   sync.Mutex
	keys []Key // those that were needed last come last
	held map[Key]bool
}

// Open is the memory in a folder that only the sidecar writes; what is there and counts as nothing is replaced by the next
// [Memory.Keep]. The folder is made.
func Open(dir string) (*Memory, error) {
	build, err := Build()
	if err != nil {
		return nil, err
	}
	m := &Memory{dir: dir, build: build, writable: true}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := records.Clear(dir); err != nil {
		return nil, err
	}
	if _, err := trust.Key(m.keyPath()); err != nil { // without a sound key no file there counts
		seal := make([]byte, sha256.Size)
		_, _ = rand.Read(seal) // it never fails
		if err := records.Write(m.keyPath(), seal, true); err != nil {
			return nil, err
		}
	}
	m.read()
	return m, nil
}

// Read is what is remembered in a folder, for a program that may not write there; nil where this build has no name.
func Read(dir string) *Memory {
	build, err := Build()
	if err != nil {
		return nil
	}
	m := &Memory{dir: dir, build: build}
	m.read()
	return m
}

// Has says whether a key passed.
func (m *Memory) Has(key Key) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[key]
}

// Files is the key of a set of files that passed all checks, its tests among them or not; content is the digest of the files.
func (m *Memory) Files(content string, tested bool) Key {
	if m == nil {
		return Key{}
	}
	return sha256.Sum256(fmt.Appendf(nil, "files %x %s %t", m.build, content, tested))
}

// All are the keys that passed.
func (m *Memory) All() []Key {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.keys)
}

// Keep adds what passed, and what passed before and was needed again. Where there is no room, what was not needed for
// longest goes. Only what was opened to be written is on the disk afterwards.
func (m *Memory) Keep(keys []Key) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.add(keys); !m.writable {
		return nil
	}
	seal, err := trust.Key(m.keyPath())
	if err != nil {
		return err
	}
	return records.Write(m.path(), m.sealed(seal), false)
}

// add puts keys behind the others.
func (m *Memory) add(keys []Key) {
	needed := make(map[Key]bool, len(keys))
	for _, key := range keys {
		needed[key] = true
	}
	m.keys = slices.DeleteFunc(m.keys, func(key Key) bool { return needed[key] })
	if m.held == nil {
		m.held = map[Key]bool{}
	}
	for _, key := range keys {
		if m.held[key] = true; needed[key] {
			m.keys, needed[key] = append(m.keys, key), false
		}
	}
	if excess := len(m.keys) - maxBytes/len(Key{}); excess > 0 {
		for _, key := range m.keys[:excess] {
			delete(m.held, key)
		}
		m.keys = slices.Delete(m.keys, 0, excess)
	}
}

func (m *Memory) path() string    { return filepath.Join(m.dir, "passed") }
func (m *Memory) keyPath() string { return filepath.Join(m.dir, "key") }

// read takes over what lies on the disk, if it is whole and of this build, folder and user.
func (m *Memory) read() {
	seal, err := trust.Key(m.keyPath())
	if err != nil {
		return
	}
	text, err := trust.Secret(m.path())
	head := m.head()
	if err != nil || len(text) < len(head)+sha256.Size || (len(text)-len(head))%len(Key{}) != 0 {
		return
	}
	body, sum := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	if !hmac.Equal(sum, sumOf(seal, body)) || string(body[:len(head)]) != string(head) {
		return
	}
	m.add(KeysIn(body[len(head):]))
}

// sealed is what lies on the disk.
func (m *Memory) sealed(seal []byte) []byte {
	text := append(m.head(), BytesOf(m.keys)...)
	return append(text, sumOf(seal, text)...)
}

// BytesOf writes keys one after the other.
func BytesOf(keys []Key) (text []byte) {
	for _, key := range keys {
		text = append(text, key[:]...)
	}
	return text
}

// KeysIn reads what [BytesOf] wrote; what is no whole key at the end is left out.
func KeysIn(text []byte) (keys []Key) {
	for part := range slices.Chunk(text, len(Key{})) {
		if len(part) == len(Key{}) {
			keys = append(keys, Key(part))
		}
	}
	return keys
}

// head says whose memory it is: that of a build, a user and a folder.
func (m *Memory) head() []byte {
	dir, err := filepath.Abs(m.dir)
	if err != nil {
		dir = m.dir
	}
	folder := sha256.Sum256([]byte(dir))
	head := append([]byte(magic), m.build[:]...)
	head = binary.BigEndian.AppendUint64(head, uint64(os.Geteuid()))
	return append(head, folder[:]...)
}

func sumOf(seal, text []byte) []byte {
	mac := hmac.New(sha256.New, seal)
	_, _ = mac.Write(text)
	return mac.Sum(nil)
}
