package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
)

// origin is the hash before the first line.
const origin = "0000000000000000000000000000000000000000000000000000000000000000"

const (
	beforePrev = `,"prev_hash":"`
	beforeHash = `","hash":"`
	lineEnd    = `"}}`
	// sealLength is the length of what the chain adds to a line's custom field.
	sealLength = len(beforePrev) + 64 + len(beforeHash) + 64 + len(lineEnd)
)

// chain computes the hashes of consecutive lines. It is not for concurrent use.
type chain struct {
	mac  hash.Hash
	last string
}

func newChain(key []byte, last string) *chain {
	return &chain{hmac.New(sha256.New, key), last}
}

// seal appends a line, with its place in the chain and its line break, to buf.
func (c *chain) seal(buf, open []byte) []byte {
	start := len(buf)
	buf = append(buf, open...)
	buf = append(buf, beforePrev...)
	buf = append(buf, c.last...)
	c.last = c.sum(buf[start:])
	buf = append(buf, beforeHash...)
	buf = append(buf, c.last...)
	return append(buf, lineEnd+"\n"...)
}

// sum is the hash of a line up to and including its prev_hash.
func (c *chain) sum(text []byte) string {
	var sum [sha256.Size]byte
	c.mac.Reset()
	c.mac.Write(text)
	return hex.EncodeToString(c.mac.Sum(sum[:0]))
}

// name tells the chains of two keys apart, and says nothing of the key. No line is such a text.
func (c *chain) name() string { return c.sum([]byte("the chain of a decision log"))[:32] }

var (
	errNoSeal = errors.New("the line does not end with prev_hash and hash, so it was edited or is no line of this log")
	errEdited = errors.New("the line's bytes do not match its hash, so it was edited")
	errOrder  = errors.New("the line does not follow the one before it, so lines in between were removed, added or reordered")
)

// follow checks the next line, without its line break, and moves on to it. A
// line that is itself sound becomes the last one even if it does not follow, so
// that what comes after it can be judged.
func (c *chain) follow(line []byte) error {
	prev, hash, ok := sealOf(line)
	if !ok {
		return errNoSeal
	}
	text := line[:len(line)-len(beforeHash)-64-len(lineEnd)]
	if !hmac.Equal([]byte(c.sum(text)), hash) {
		return errEdited
	}
	expected := c.last
	c.last = string(hash)
	if string(prev) != expected {
		return errOrder
	}
	return nil
}

// sealOf reads the two hashes at a line's end.
func sealOf(line []byte) (prev, hash []byte, ok bool) {
	if len(line) < sealLength {
		return nil, nil, false
	}
	seal := line[len(line)-sealLength:]
	take := func(n int) []byte { part := seal[:n]; seal = seal[n:]; return part }
	a, prev := take(len(beforePrev)), take(64)
	b, hash := take(len(beforeHash)), take(64)
	return prev, hash, string(a) == beforePrev && string(b) == beforeHash && string(seal) == lineEnd
}
