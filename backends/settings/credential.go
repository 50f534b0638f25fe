package settings

import (
	"fmt"
	"os"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Credential says where a secret is kept: in a file that is kept from others, or in a
// variable of the sidecar's own environment. It is read and judged at each use, so
// that it can be renewed.
type Credential struct {
	File, Env string
}

// IsSet says whether the configuration names a place.
func (c Credential) IsSet() bool { return c != Credential{} }

// Read returns the secret, without the white space around it. One that can be guessed, or
// that others may read, is none.
func (c Credential) Read() (bailiff.Secret, error) {
	text, err := c.text()
	if err != nil {
		return bailiff.Secret{}, fmt.Errorf("reading a credential: %w", err)
	}
	return bailiff.NewSecret(text), nil
}

func (c Credential) text() (string, error) {
	if c.File != "" {
		return trust.Token(c.File)
	}
	text := strings.TrimSpace(os.Getenv(c.Env))
	return text, trust.LongEnough(text, "variable "+c.Env)
}
