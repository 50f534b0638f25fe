package httpapi

import (
	"fmt"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Server is one that bailiff.yaml names, alone in a section or among other keys.
type Server struct {
	URL string
	// Token is where the token for the server is kept, if it wants one.
	Token settings.Credential
	// CAFile holds the certificates of who may vouch for the server; empty means those of
	// this machine.
	CAFile string
}

// Settings are the keys that say so.
func (s *Server) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "url", Into: &s.URL, Check: CheckAddress},
		{Key: "token", Into: &s.Token},
		{Key: "ca_file", Into: &s.CAFile, Path: true, Present: IsRoots},
	}
}

// Client makes a client of the server, which errors call by the name. It reads the
// certificates, and does not connect yet.
func (s Server) Client(name string, reason Reason) (*Client, error) {
	roots, err := Roots(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	cfg := Config{Name: name, Roots: roots, Reason: reason}
	if s.Token.IsSet() {
		cfg.Credential = s.Token.Read
	}
	return New(cfg), nil
}
