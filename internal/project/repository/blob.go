package repository

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// BlobHash is the hash under which git keeps a file of this content, in hexadecimal; size is how many bytes the repository's hashes have.
func BlobHash(size int, content []byte) string {
	var sum hash.Hash = sha1.New()
	if size == sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(content))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}
