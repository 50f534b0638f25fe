package protected

import (
	"bytes"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// maxIndex is how many bytes of git's index are read: an entry has about a hundred.
const maxIndex = 256 << 20

// index is a file of git's that says what the next commit holds, as gitformat-index(5) has it.
// Entries name a repository below the folder where their mode says so. git status looks into it.
type index struct {
	text    []byte
	version uint32
	entries []linked
	hash    int // bytes of one
}

// linked is an entry of an index, by where it stands in the text and its whole name.
type linked struct {
	from, to int
	name     string
	mode     uint32
}

const modeRepository = 0o160000

var errNoIndex = errors.New("no index of git's that can be read")

// readIndex reads a repository's index; one that is not there has no entries.
func readIndex(root *os.Root, name string) (index, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if isMissing(err) {
		return index{}, nil
	}
	if err != nil {
		return index{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return index{}, errors.Join(errNoIndex, err)
	}
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return index{}, fmt.Errorf("reading %s: %w", name, err)
	}
	for _, hash := range []int{sha1.Size, sha256.Size} {
		if x, ok := parseIndex(text, hash); ok {
			return x, nil
		}
	}
	return index{}, errNoIndex
}

// parseIndex takes the entries of a text in which hashes have so many bytes.
func parseIndex(text []byte, hash int) (x index, ok bool) {
	if len(text) < 12+hash || string(text[:4]) != "DIRC" {
		return x, false
	}
	x = index{text: text, version: binary.BigEndian.Uint32(text[4:]), hash: hash}
	number := binary.BigEndian.Uint32(text[8:])
	if x.version < 2 || x.version > 4 || int64(number) > int64(len(text)) {
		return x, false
	}
	at, name := 12, []byte(nil)
	for range number {
		next, whole, ok := x.entryAt(at, name)
		if !ok {
			return x, false
		}
		name = whole
		if mode := binary.BigEndian.Uint32(text[at+24:]); mode == modeRepository {
			x.entries = append(x.entries, linked{from: at, to: next, name: string(name), mode: mode})
		}
		at = next
	}
	return x, x.endsAt(at)
}

// entryAt is where the entry at a place ends, and its name; before is the name of the one before it.
func (x index) entryAt(at int, before []byte) (next int, name []byte, ok bool) {
	fixed := at + 40 + x.hash + 2
	if fixed > len(x.text)-x.hash {
		return 0, nil, false
	}
	if flags := binary.BigEndian.Uint16(x.text[fixed-2:]); flags&0x4000 != 0 { // has two bytes more of them
		fixed += 2
	}
	if x.version == 4 {
		dropped, size := varint(x.text[fixed:])
		if size == 0 || dropped > len(before) {
			return 0, nil, false
		}
		fixed += size
		name = slices.Clone(before[:len(before)-dropped])
	}
	length := bytes.IndexByte(x.text[fixed:], 0)
	if length < 0 {
		return 0, nil, false
	}
	name = append(name, x.text[fixed:fixed+length]...)
	if next = fixed + length + 1; x.version < 4 {
		next = at + (fixed+length-at)/8*8 + 8
	}
	return next, name, next <= len(x.text)-x.hash
}

// varint is a number as git packs it, and how many bytes it takes; none if it does not end.
func varint(text []byte) (n, size int) {
	for i, b := range text {
		if i > 4 {
			break
		}
		n = n<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}

// endsAt says whether behind the entries only extensions stand that may be left out.
func (x index) endsAt(at int) bool {
	for end := len(x.text) - x.hash; at < end; {
		if at+8 > end || x.text[at] < 'A' || x.text[at] > 'Z' {
			return false
		}
		at += 8 + int(binary.BigEndian.Uint32(x.text[at+4:]))
		if at > end {
			return false
		}
	}
	return true
}

// without is the text of the index with fewer entries, and without extensions, which are hints.
func (x index) without(names map[string]bool) []byte {
	text, number, at := []byte("DIRC"), binary.BigEndian.Uint32(x.text[8:]), 12
	body, before, written := []byte(nil), []byte(nil), []byte(nil)
	for range binary.BigEndian.Uint32(x.text[8:]) {
		next, name, _ := x.entryAt(at, before)
		if names[string(name)] && binary.BigEndian.Uint32(x.text[at+24:]) == modeRepository {
			number--
		} else {
			body = append(body, x.again(at, next, name, written)...)
			written = name
		}
		at, before = next, name
	}
	text = binary.BigEndian.AppendUint32(text, x.version)
	text = binary.BigEndian.AppendUint32(text, number)
	text = append(text, body...)
	if x.hash == sha1.Size {
		sum := sha1.Sum(text)
		return append(text, sum[:]...)
	}
	sum := sha256.Sum256(text)
	return append(text, sum[:]...)
}

// again is the text of an entry that follows another one than before; that counts in version 4.
func (x index) again(at, next int, name, before []byte) []byte {
	if x.version < 4 {
		return x.text[at:next]
	}
	fixed := at + 40 + x.hash + 2
	if binary.BigEndian.Uint16(x.text[fixed-2:])&0x4000 != 0 {
		fixed += 2
	}
	same := 0
	for same < len(name) && same < len(before) && name[same] == before[same] {
		same++
	}
	text := append(slices.Clone(x.text[at:fixed]), varintOf(len(before)-same)...)
	return append(append(text, name[same:]...), 0)
}

// varintOf is what varint reads.
func varintOf(n int) []byte {
	text := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		text = append([]byte{0x80 | byte(n&0x7f)}, text...)
	}
	return text
}

// writeIndex puts a text in an index's place, with git's lock where that is free. Where it is not, the
// program that has it may write what it read before; the next comparison sees that.
func writeIndex(root *os.Root, name string, text []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	fresh, free := name+".lock", true
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		fresh, free = name+"-"+rand.Text(), false
		f, err = root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing %s (its lock is free: %v): %w", name, free, err)
	}
	s, err := stateOf(root, name, info)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, own(f, s), f.Chmod(s.mode), f.Close())
	}
	if err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		_ = root.Remove(fresh)
	}
	return err
}
