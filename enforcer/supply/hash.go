package supply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// Hash names something by its parts, so that no part of a chat's identity ends
// up in a label or a path.
func Hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Fingerprint is what a sandbox is like, without its owner.
func Fingerprint(spec backends.Spec) string {
	spec.Expires = time.Time{}
	spec.Session = ""   // a user's sandbox serves several of their sessions
	spec.Workspace = "" // a slot has one, however it is called
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // strings, numbers and booleans only: cannot fail
	}
	return Hash(string(text))
}
