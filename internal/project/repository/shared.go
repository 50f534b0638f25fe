package repository

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
)

// Git keeps a large index in two files if core.splitIndex is set: one that seldom changes, sharedindex.HASH, and the index itself, with
// what differs from it (gitformat-index(5), "Split index"). Here both are read as one.

// piece is an entry on its way from one index to another.
type piece struct {
	fixed, name  []byte
	first, other uint16
	stage        int
}

func (c *cursor) piece() piece {
	return piece{c.fixed, c.name, c.first &^ flagExtended, c.other, c.stage}
}

func (p piece) compare(with piece) int {
	if order := bytes.Compare(p.name, with.name); order != 0 {
		return order
	}
	return p.stage - with.stage
}

// joined is the index together with the shared one that its extension names.
func (x Index) joined(link []byte, root *os.Root) (Index, error) {
	if len(link) < x.hash {
		return Index{}, errIndex
	}
	shared := Index{hash: x.hash}
	if name := hex.EncodeToString(link[:x.hash]); strings.Trim(name, "0") != "" {
		text, err := Read(root, "sharedindex."+name, maxIndex)
		if err != nil {
			return Index{}, fmt.Errorf("reading the shared index: %w", err)
		}
		shared.Text = text
		if more, err := shared.check(); err != nil || more != nil {
			return Index{}, errIndex
		}
	}
	deleted, rest, err := bitmap(link[x.hash:])
	if err != nil {
		return Index{}, err
	}
	replaced, _, err := bitmap(rest)
	if err != nil {
		return Index{}, err
	}
	var all, changed, added []piece
	for c := x.cursor(); c.next(); {
		if len(c.name) == 0 {
			changed = append(changed, c.piece())
		} else {
			added = append(added, c.piece())
		}
	}
	c := shared.cursor()
	for i := 0; c.next(); i++ {
		one := c.piece()
		switch {
		case deleted[i]:
			continue
		case replaced[i] && len(changed) == 0:
			return Index{}, errIndex
		case replaced[i]:
			changed[0].name = one.name
			one, changed = changed[0], changed[1:]
		}
		all = append(all, one)
	}
	return x.of(merged(all, added)), nil
}

// merged are two lists in order. Where both have an entry, that of the second counts.
func merged(all, added []piece) []piece {
	both := slices.SortedFunc(slices.Values(append(added, all...)), piece.compare)
	return slices.CompactFunc(both, func(a, b piece) bool { return a.compare(b) == 0 })
}

// Changed is the index with entries as a function wants them: as they are where it returns what it is given, and without those for
// which it returns nil. What is known of the file of a changed one is left out, and so are extensions, which are hints.
func (x Index) Changed(to func(e IndexEntry) *IndexEntry) Index {
	if len(x.Text) == 0 {
		return x
	}
	var all []piece
	for c := x.cursor(); c.next(); {
		was, one := c.entry(), c.piece()
		is := to(was)
		if is == nil {
			continue
		}
		if hash, err := hex.DecodeString(is.Hash); is.Hash != was.Hash && err == nil && len(hash) == x.hash {
			one.fixed = append(make([]byte, 40), hash...)
		} else {
			one.fixed = bytes.Clone(one.fixed)
		}
		binary.BigEndian.PutUint32(one.fixed[24:], is.Mode)
		all = append(all, one)
	}
	return x.of(all)
}

// of is an index with these entries, and without extensions.
func (x Index) of(all []piece) Index {
	text := append([]byte("DIRC"), 0, 0, 0, 2)
	text = binary.BigEndian.AppendUint32(text, uint32(len(all)))
	if slices.ContainsFunc(all, func(p piece) bool { return p.other != 0 }) {
		text[7] = 3
	}
	for _, p := range all {
		start := len(text)
		text = append(text, p.fixed...)
		first := p.first&^0xfff | uint16(min(len(p.name), 0xfff))
		if p.other != 0 {
			text = binary.BigEndian.AppendUint16(text, first|flagExtended)
			first = p.other
		}
		text = append(binary.BigEndian.AppendUint16(text, first), p.name...)
		text = append(text, make([]byte, 8-(len(text)-start)%8)...)
	}
	return x.with(text)
}

// bitmap reads the numbers of the bits that are set in a map, packed as git's Documentation/technical/bitmap-format has it: words that say
// how many words of one bit follow, and how many as they are. No map, at the end, has none.
func bitmap(text []byte) (bits map[int]bool, rest []byte, err error) {
	bits = map[int]bool{}
	if len(text) == 0 {
		return bits, nil, nil
	}
	if len(text) < 8 {
		return nil, nil, errIndex
	}
	size, words := int(binary.BigEndian.Uint32(text)), int(binary.BigEndian.Uint32(text[4:]))
	if size > maxIndex/40 || words > (len(text)-12)/8 {
		return nil, nil, errIndex
	}
	at := 0
	set := func(word uint64) {
		for i := range 64 {
			if word>>i&1 != 0 && at+i < size {
				bits[at+i] = true
			}
		}
		at += 64
	}
	text, rest = text[8:8+8*words], text[12+8*words:]
	for len(text) > 0 {
		mark := binary.BigEndian.Uint64(text)
		text = text[8:]
		for run := mark >> 1 & 0xffffffff; run > 0 && at < size; run-- {
			set(-(mark & 1))
		}
		for plain := mark >> 33; plain > 0; plain-- {
			if len(text) == 0 {
				return nil, nil, errIndex
			}
			set(binary.BigEndian.Uint64(text))
			text = text[8:]
		}
	}
	return bits, rest, nil
}

// IsPlainPath says that no part of a path is one that git keeps for itself, in any spelling that a file system may take for it.
func IsPlainPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		plain := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return unicode.ToLower(r)
		}, part)
		plain = strings.TrimRight(plain, ". ")
		if part == "" || part == "." || part == ".." || plain == ".git" || strings.HasPrefix(plain, "git~") || strings.HasPrefix(plain,
			".git:") {
			return false
		}
	}
	return !strings.Contains(path, "\\") || !strings.Contains(strings.ToLower(path), ".git")
}
