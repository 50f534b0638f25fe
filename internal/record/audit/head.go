package audit

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// head says from where to where the log goes, outside the log. It lags the log by
// what was written since the last commit, and never leads it.
type head struct {
	Count   int64  `json:"count"`
	Last    string `json:"last_hash"`
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	// From is zero as long as nothing was retired.
	From beginning `json:"from,omitzero"`
	// MAC is over all the above, so that a head can be made only with the key.
	MAC string `json:"mac"`
}

// beginning is the end of what retention removed; the log goes on behind it.
type beginning struct {
	Count   int64  `json:"count"`
	Last    string `json:"last_hash"`
	Segment string `json:"segment"`
	// Told says that an event in the log tells of it.
	Told bool `json:"told"`
}

func (h head) sum(key []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "head %d %s %s %d", h.Count, h.Last, h.Segment, h.Offset)
	if from := h.From; from != (beginning{}) {
		fmt.Fprintf(mac, " from %d %s %s %t", from.Count, from.Last, from.Segment, from.Told)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// after compares two heads of one log.
func (h head) after(other head) bool {
	told := func(h head) int {
		if h.From.Told {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(h.Count, other.Count), cmp.Compare(h.From.Count, other.From.Count), told(h)-told(other)) > 0
}

// last is the hash before the first line that is there.
func (b beginning) last() string {
	if b.Count == 0 {
		return origin
	}
	return b.Last
}

// isRetired says whether a segment was removed, or is about to be.
func (b beginning) isRetired(segment string) bool {
	return b.Count > 0 && numberOf(segment) <= numberOf(b.Segment)
}

// slotLength is the room of one of the two copies in the head's file. They are
// written in turns, so that a write cut short leaves the other.
const slotLength = 512

type headFile struct {
	file *os.File
	key  []byte
	turn int64
}

var errHead = errors.New("neither copy of the head is valid")

// openHead opens the head's file and writes h into it. A new file is never
// seen without a head.
func openHead(path string, key []byte, h head) (*headFile, error) {
	open, rename := path, false
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		open, rename = path+".new", true
	}
	file, err := os.OpenFile(open, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f := &headFile{file: file, key: key}
	err = f.settle(h)
	if err == nil && rename {
		err = errors.Join(os.Rename(open, path), records.Sync(filepath.Dir(path)))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *headFile) write(h head) error {
	h.MAC = h.sum(f.key)
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	slot := make([]byte, slotLength)
	for i := copy(slot, text); i < slotLength; i++ {
		slot[i] = ' '
	}
	slot[slotLength-1] = '\n'
	f.turn++
	_, err = f.file.WriteAt(slot, f.turn%2*slotLength)
	return err
}

// settle writes a head and brings it to the disk.
func (f *headFile) settle(h head) error { return errors.Join(f.write(h), f.file.Sync()) }

func (f *headFile) close() error {
	return errors.Join(f.file.Sync(), f.file.Close())
}

// readHead returns the newer valid copy.
func readHead(path string, key []byte) (head, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return head{}, err
	}
	var newest head
	found := false
	for at := 0; at+slotLength <= len(text); at += slotLength {
		var h head
		sound := json.Unmarshal(text[at:at+slotLength], &h) == nil && hmac.Equal([]byte(h.sum(key)), []byte(h.MAC))
		if sound && (!found || h.after(newest)) {
			newest, found = h, true
		}
	}
	if !found {
		return head{}, errHead
	}
	return newest, nil
}

const keyLength = 32

func headPath(stateDir string) string { return filepath.Join(stateDir, "audit", "head") }
func keyPath(stateDir string) string  { return filepath.Join(stateDir, "audit", "key") }

func readKey(stateDir string) ([]byte, error) {
	info, err := os.Stat(keyPath(stateDir))
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may use %s: chmod 600 it, and consider the log unproven until then", keyPath(stateDir))
	}
	key, err := os.ReadFile(keyPath(stateDir))
	if err == nil && len(key) != keyLength {
		err = fmt.Errorf("%s holds %d bytes, want %d", keyPath(stateDir), len(key), keyLength)
	}
	return key, err
}
