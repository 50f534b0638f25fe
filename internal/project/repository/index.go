package repository

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errIndex is the fault of a file that is no index.
var errIndex = errors.New("no index of git's that can be read")

const (
	// ModeRepository is the mode of an entry that is a repository of its own.
	ModeRepository = 0o160000

	flagValid     = 0x8000 // assume-unchanged
	flagExtended  = 0x4000
	flagSkipped   = 0x4000 // skip-worktree, in the second word
	flagIntention = 0x2000 // intent-to-add, in the second word
)

// Index is the text of a repository's index, as gitformat-index(5) has it. The zero value has no entries.
type Index struct {
	Text []byte
	hash int
}

// IndexEntry is an entry of an index: a path at a stage, 0 but in a conflict.
type IndexEntry struct {
	Path  string
	Stage int
	Mode  uint32
	Hash  string
	// IsSkipped says that the file is not in the working folder, since that is sparse.
	IsSkipped bool
	// IsAnnounced says that only the path is in the index, and no content yet.
	IsAnnounced bool
}

// Index reads the index of a repository whose hashes have so many bytes.
func (d Dirs) Index(hash int) (Index, error) { return ReadIndex(d.Git, "index", hash) }

// ReadIndex reads a file that is an index with hashes of so many bytes, of one of these sizes. Without the file it has no entries.
func ReadIndex(root *os.Root, name string, hashes ...int) (x Index, err error) {
	text, err := Read(root, name, maxIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Index{}, fmt.Errorf("reading the index: %w", err)
	}
	isMissing := err != nil
	for _, hash := range hashes {
		x = Index{text, hash}
		if isMissing {
			return x, nil
		}
		var link []byte
		if link, err = x.check(); err == nil && link != nil {
			x, err = x.joined(link, root)
		}
		if err == nil {
			break
		}
	}
	return x, err
}

// check says whether an index can be read to its end. Link is what it says of the shared index without which it is not whole; else nil.
func (x Index) check() (link []byte, err error) {
	if len(x.Text) < 12+x.hash || string(x.Text[:4]) != "DIRC" {
		return nil, errIndex
	}
	c := x.cursor()
	for c.next() {
	}
	if c.fault {
		return nil, errIndex
	}
	for at, end := c.at, len(x.Text)-x.hash; at < end; {
		if at+8 > end {
			return nil, errIndex
		}
		name, size := string(x.Text[at:at+4]), int(binary.BigEndian.Uint32(x.Text[at+4:]))
		switch {
		case size > end-at-8:
			return nil, errIndex
		case name == "link":
			link = x.Text[at+8 : at+8+size : at+8+size]
		case name == "sdir":
			return nil, fmt.Errorf("the index has folders for entries (index.sparse): %w", ErrUnsupported)
		case name[0] < 'A' || name[0] > 'Z':
			return nil, errIndex
		}
		at += 8 + size
	}
	return link, nil
}

// cursor goes through the entries of an index in their order.
type cursor struct {
	text    []byte
	hash    int
	version uint32
	left    uint32
	at      int
	fault   bool

	name         []byte
	fixed        []byte // the entry's numbers and hash
	stage        int
	first, other uint16 // flags
}

func (x Index) cursor() *cursor {
	c := &cursor{text: x.Text, hash: x.hash, at: 12}
	if len(x.Text) < 12 {
		return c
	}
	c.version, c.left = binary.BigEndian.Uint32(x.Text[4:]), binary.BigEndian.Uint32(x.Text[8:])
	c.fault = c.version < 2 || c.version > 4
	return c
}

// next goes to the next entry; false at the end, or at a fault.
func (c *cursor) next() bool {
	if c.left == 0 || c.fault {
		return false
	}
	c.left--
	end := len(c.text) - c.hash
	start, fixed := c.at, 40+c.hash
	if start+fixed+4 > end {
		c.fault = true
		return false
	}
	c.fixed = c.text[start : start+fixed]
	c.first, c.other = binary.BigEndian.Uint16(c.text[start+fixed:]), 0
	at := start + fixed + 2
	if c.first&flagExtended != 0 {
		c.other = binary.BigEndian.Uint16(c.text[at:])
		at += 2
	}
	c.stage = int(c.first>>12) & 3
	var before []byte
	if c.version == 4 {
		dropped, size := varint(c.text[at:end])
		if size == 0 || dropped > len(c.name) {
			c.fault = true
			return false
		}
		at += size
		before = c.name[:len(c.name)-dropped]
	}
	length := -1
	if at < end {
		length = bytes.IndexByte(c.text[at:end], 0)
	}
	if length < 0 || len(before)+length > 4096 {
		c.fault = true
		return false
	}
	if c.version == 4 {
		c.name = append(append(make([]byte, 0, len(before)+length), before...), c.text[at:at+length]...)
		c.at = at + length + 1
		return true
	}
	c.name = c.text[at : at+length]
	if c.at = start + (at+length-start)/8*8 + 8; c.at > end {
		c.fault = true
	}
	return !c.fault
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

func (c *cursor) mode() uint32 { return binary.BigEndian.Uint32(c.fixed[24:]) }

func (c *cursor) entry() IndexEntry {
	return IndexEntry{Path: string(c.name), Stage: c.stage, Mode: c.mode(), Hash: hex.EncodeToString(c.fixed[40:]),
		IsSkipped: c.other&flagSkipped != 0, IsAnnounced: c.other&flagIntention != 0}
}

// isSame says whether two entries of one path have the same content.
func (c *cursor) isSame(with *cursor) bool {
	return bytes.Equal(c.fixed[40:], with.fixed[40:]) && c.mode() == with.mode() && (c.other^with.other)&flagIntention == 0
}

func compare(a, b *cursor) int {
	if order := bytes.Compare(a.name, b.name); order != 0 {
		return order
	}
	return a.stage - b.stage
}

// Change is an entry that two indexes have differently. Was or Is is nil where there is none.
type Change struct{ Was, Is *IndexEntry }

// Path is where the entry is.
func (c Change) Path() string {
	if c.Is != nil {
		return c.Is.Path
	}
	return c.Was.Path
}

// Changes are the entries in which an index differs from an earlier one. Times and flags do not count.
func (x Index) Changes(since Index) (all []Change) {
	if bytes.Equal(x.Text, since.Text) {
		return nil
	}
	was, is := since.cursor(), x.cursor()
	hasWas, hasIs := was.next(), is.next()
	for hasWas || hasIs {
		order := 0
		switch {
		case !hasWas:
			order = 1
		case !hasIs:
			order = -1
		default:
			order = compare(was, is)
		}
		var c Change
		if order <= 0 {
			if order < 0 || !was.isSame(is) {
				one := was.entry()
				c.Was = &one
			}
		}
		if order >= 0 && (order > 0 || c.Was != nil) {
			one := is.entry()
			c.Is = &one
		}
		if c.Was != nil || c.Is != nil {
			all = append(all, c)
		}
		if order <= 0 {
			hasWas = was.next()
		}
		if order >= 0 {
			hasIs = is.next()
		}
	}
	return all
}

// Entries are those for which pick is true.
func (x Index) Entries(pick func(path string, mode uint32) bool) (all []IndexEntry) {
	for c := x.cursor(); c.next(); {
		if pick(string(c.name), c.mode()) {
			all = append(all, c.entry())
		}
	}
	return all
}

// Select are the entries at these paths.
func (x Index) Select(paths map[string]bool) map[string][]IndexEntry {
	all := map[string][]IndexEntry{}
	if len(paths) == 0 {
		return all
	}
	for c := x.cursor(); c.next(); {
		if paths[string(c.name)] {
			all[string(c.name)] = append(all[string(c.name)], c.entry())
		}
	}
	return all
}

// Repositories are the paths of entries that are repositories of their own.
func (x Index) Repositories() map[string]bool {
	all := map[string]bool{}
	for c := x.cursor(); c.next(); {
		if c.mode() == ModeRepository {
			all[string(c.name)] = true
		}
	}
	return all
}

// As is the index in which the files of one user and group are another's: git compares the owner
// with that of the file, which has another number in a sandbox.
func (x Index) As(uid, gid, asUID, asGID uint32) Index {
	if uid == asUID && gid == asGID || len(x.Text) == 0 {
		return x
	}
	text := bytes.Clone(x.Text)
	for c := (Index{text, x.hash}).cursor(); c.next(); {
		if binary.BigEndian.Uint32(c.fixed[28:]) == uid {
			binary.BigEndian.PutUint32(c.fixed[28:], asUID)
		}
		if binary.BigEndian.Uint32(c.fixed[32:]) == gid {
			binary.BigEndian.PutUint32(c.fixed[32:], asGID)
		}
	}
	return x.with(text[:len(text)-x.hash])
}

// with is an index of another text, which has no checksum yet.
func (x Index) with(body []byte) Index {
	if x.hash == sha256.Size {
		sum := sha256.Sum256(body)
		return Index{append(body, sum[:]...), x.hash}
	}
	sum := sha1.Sum(body)
	return Index{append(body, sum[:]...), x.hash}
}
