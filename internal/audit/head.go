package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// head says how far the log goes, outside the log. It lags the log by what was
// written since the last commit, and never leads it.
type head struct {
	Count   int64  `json:"count"`
	Last    string `json:"last_hash"`
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	// MAC is over all the above, so that a head can be made only with the key.
	MAC string `json:"mac"`
}

func (h head) sum(key []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "head %d %s %s %d", h.Count, h.Last, h.Segment, h.Offset)
	return hex.EncodeToString(mac.Sum(nil))
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
	err = errors.Join(f.write(h), file.Sync())
	if err == nil && rename {
		err = errors.Join(os.Rename(open, path), syncDir(filepath.Dir(path)))
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
		if sound && (!found || h.Count > newest.Count) {
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
