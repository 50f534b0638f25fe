// Package mailbox is how bytes come into a place by files, where files can be
// written but no program's input: letters 1, 2, 3… in one folder, each of which
// says by itself when it is there as a whole. Who writes them need not be able to
// rename a file, nor to write one at once.
package mailbox

import (
	"crypto/sha256"
	"errors"
	"strconv"

	"github.com/bailiff-dev/bailiff/backends/runner/gather"
)

// MaxBytes bounds what a letter carries.
const MaxBytes = 1 << 20

// Name is the file of a letter, the first being 1.
func Name(number int) string { return strconv.Itoa(number) }

// Seal makes the content of a letter's file.
func Seal(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(sum[:], data...)
}

var errUnfinished = errors.New("the letter is not there as a whole")

// Open is the reverse; an error means that more is to come.
func Open(content []byte) ([]byte, error) {
	if len(content) < sha256.Size {
		return nil, errUnfinished
	}
	data := content[sha256.Size:]
	if sha256.Sum256(data) != [sha256.Size]byte(content) {
		return nil, errUnfinished
	}
	return data, nil
}

// Sender puts what is written into letters, one after the other: as much into each
// as came while the one before was under way.
type Sender struct{ *gather.Writer }

// NewSender delivers letters by a function, which is not called concurrently. When
// one was not delivered, failed is told, and none follows.
func NewSender(deliver func(number int, letter []byte) error, failed func(error)) *Sender {
	number := 0
	return &Sender{gather.New(MaxBytes, func(data []byte) error {
		number++
		return deliver(number, Seal(data))
	}, failed)}
}
