// Package index says of which kind the programs are that people install, by their names.
//
// Here: [Of], which looks a name up in the file index.bin of this package; the form of that file, which [Write] makes. Its head says in
// plain text from which sources it was made, when, by which rules, and under which licence.
//
// Promised: a look-up takes no memory, and exactly the names of the file have a kind.
//
// Not here: what a program does. Three of four kinds are right, so that a kind permits nothing: it answers only the question
// whether people have such a program. How the file is made: scripts/programindex.
package index

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of programs; the empty one is that of names which the index does not have.
type Kind string

// The kinds: what most programs of theirs do at the worst.
const (
	Reads          Kind = "reads"
	Builds         Kind = "builds"
	Edits          Kind = "edits"
	Administers    Kind = "administers"
	Network        Kind = "network"
	ScansOrAttacks Kind = "scans_or_attacks"
	Plays          Kind = "plays"
	Other          Kind = "other"
)

// kinds are in the order of the file's numbers.
var kinds = []Kind{Reads, Builds, Edits, Administers, Network, ScansOrAttacks, Plays, Other}

// Kinds are all kinds.
func Kinds() []Kind { return slices.Clone(kinds) }

//go:embed index.bin
var shipped string

// table is the index of this program. A fault in the file is one of this program.
var table = func() form {
	f, err := read(shipped)
	if err != nil {
		panic(err)
	}
	return f
}()

// Of is the kind of the programs under a name.
func Of(name string) Kind { return table.of(name) }

// Head says how the index was made.
func Head() string { return table.head }

// The file is a head of text, an empty line, and the lengths of the two parts behind: the places of the blocks as big-endian numbers of
// three bytes, and the blocks. A block is sixteen names in the order of their bytes, the last may be shorter: of each its kind, how many
// bytes it shares with the name before, how many follow, and these.
const (
	blockNames = 16
	placeBytes = 3
	countBytes = 4
)

type form struct {
	head, places, blocks string
}

var errForm = errors.New("the index of programs is damaged")

func read(text string) (form, error) {
	head, rest, found := strings.Cut(text, "\n\n")
	if !found || len(rest) < countBytes {
		return form{}, errForm
	}
	places := int(binary.BigEndian.Uint32([]byte(rest[:countBytes]))) * placeBytes
	rest = rest[countBytes:]
	if places > len(rest) {
		return form{}, errForm
	}
	return form{head, rest[:places], rest[places:]}, nil
}

// block is the place of a block.
func (f form) block(n int) int {
	p := f.places[n*placeBytes:]
	return int(p[0])<<16 | int(p[1])<<8 | int(p[2])
}

// of looks for the block whose first name is the last that is not behind the name, and through it.
func (f form) of(name string) Kind {
	from, to := 0, len(f.places)/placeBytes
	for from < to {
		middle := (from + to) / 2
		at := f.block(middle)
		if length := int(f.blocks[at+2]); f.blocks[at+3:at+3+length] > name {
			to = middle
		} else {
			from = middle + 1
		}
	}
	if from == 0 || len(name) > maxName {
		return ""
	}
	at := f.block(from - 1)
	var spelt [maxName]byte
	for range blockNames {
		if at == len(f.blocks) {
			return ""
		}
		kind, shared, more := f.blocks[at], int(f.blocks[at+1]), int(f.blocks[at+2])
		copy(spelt[shared:], f.blocks[at+3:at+3+more])
		if string(spelt[:shared+more]) == name {
			return kinds[kind]
		}
		at += 3 + more
	}
	return ""
}

// maxName is how long a name may be, in bytes: longer ones are in no file system that programs are installed in.
const maxName = 255

// Write makes the file of an index: its head, and the names with their kinds.
func Write(head string, names map[string]Kind) ([]byte, error) {
	if strings.Contains(head, "\n\n") || strings.HasSuffix(head, "\n") {
		return nil, errors.New("writing the index: the head has an empty line, or an end of line at its end")
	}
	sorted := make([]string, 0, len(names))
	for name, kind := range names {
		if !slices.Contains(kinds, kind) || name == "" || len(name) > maxName {
			return nil, fmt.Errorf("writing the index: %q is of the kind %q: want one of %q, and a name of 1 to %d bytes",
				name, kind, kinds, maxName)
		}
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var places, blocks []byte
	before := ""
	for i, name := range sorted {
		if i%blockNames == 0 {
			at := len(blocks)
			places, before = append(places, byte(at>>16), byte(at>>8), byte(at)), ""
		}
		shared := common(before, name)
		blocks = append(blocks, byte(slices.Index(kinds, names[name])), byte(shared), byte(len(name)-shared))
		blocks = append(blocks, name[shared:]...)
		before = name
	}
	file := append([]byte(head), "\n\n"...)
	file = binary.BigEndian.AppendUint32(file, uint32(len(places)/placeBytes))
	return append(append(file, places...), blocks...), nil
}

// common is how many bytes two names begin with alike.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
