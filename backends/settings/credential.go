package settings

import (
	"fmt"
	"os"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/trust"
)

// Credential says where a secret is kept: in a file that is kept from others, or in a
// variable of the sidecar's own environment. It is read and judged at each use, so
// that it can be renewed.
type Credential struct {
	File, Env string
}

// Given says whether the configuration names a place.
func (c Credential) Given() bool { return c != Credential{} }

// Read returns the secret, without the white space around it.
func (c Credential) Read() (bailiff.Secret, error) {
	text, from := os.Getenv(c.Env), "variable "+c.Env
	if c.File != "" {
		content, err := trust.Secret(c.File)
		if err != nil {
			return bailiff.Secret{}, fmt.Errorf("reading a credential: %w", err)
		}
		text, from = string(content), c.File
	}
	if text = strings.TrimSpace(text); text == "" {
		return bailiff.Secret{}, fmt.Errorf("reading a credential: %s is empty", from)
	}
	return bailiff.NewSecret(text), nil
}
