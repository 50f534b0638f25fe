package backends

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest stands for names that may tell who talks to whom, or hold what a technology
// takes in none of its own: 32 hexadecimal digits, which are others for other parts,
// however these are divided. That the enforcer's names are digests already is nothing
// that a backend relies on.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}
