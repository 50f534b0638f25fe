package carrier

import (
	"crypto/sha256"
	"errors"
	"strconv"
)

// MaxChunk bounds the bytes in a file.
const MaxChunk = 1 << 20

// FileName is the name of a file in the folder; the first number is 1.
func FileName(number int) string { return strconv.Itoa(number) }

// Seal is the content of a file with some bytes. It shows whether the file is complete.
func Seal(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(sum[:], data...)
}

var errIncomplete = errors.New("the file is not complete")

// Unseal returns the bytes in the content of a file; an error means that it is not complete.
func Unseal(content []byte) ([]byte, error) {
	if len(content) < sha256.Size {
		return nil, errIncomplete
	}
	data := content[sha256.Size:]
	if sha256.Sum256(data) != [sha256.Size]byte(content) {
		return nil, errIncomplete
	}
	return data, nil
}

// NewFileWriter writes batches into files 1, 2, 3… of one folder. The API that delivers a
// file need neither write it at once nor be able to rename it.
func NewFileWriter(deliver func(number int, content []byte) error, failed func(error)) *BatchWriter {
	number := 0
	return NewBatchWriter(MaxChunk, func(data []byte) error {
		number++
		return deliver(number, Seal(data))
	}, failed)
}
