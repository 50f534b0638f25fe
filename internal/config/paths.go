package config

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// path reads a path of this machine and makes it absolute.
func (r *reader) path(at place) (string, bool) {
	s, ok := r.text(at)
	if !ok {
		return "", false
	}
	return r.absolute(at, s)
}

func (r *reader) absolute(at place, s string) (string, bool) {
	rest, ofHome := strings.CutPrefix(s, "~")
	switch {
	case strings.ContainsFunc(s, unicode.IsControl): // a key itself, perhaps, so it is not repeated
		r.fault(at, "holds a line break or another control character, want a path")
		return "", false
	case ofHome && rest != "" && rest[0] != '/':
		r.fault(at, "%q: only the own home folder can be written ~", s)
		return "", false
	case ofHome && r.home == "":
		r.fault(at, "%q: $HOME is not set, want an absolute path", s)
		return "", false
	case expansion.MatchString(s):
		r.fault(at, "%q: variables are not expanded; write the path", s)
		return "", false
	case ofHome:
		return filepath.Join(r.home, rest), true
	case filepath.IsAbs(s):
		return filepath.Clean(s), true
	}
	return filepath.Join(r.folder, s), true
}

var expansion = regexp.MustCompile(`\$(\w|\{)`)

// trustedPath reads the path of something that no other user may write.
func (r *reader) trustedPath(at place) (string, bool) {
	p, ok := r.path(at)
	if ok {
		r.trust = append(r.trust, trustedFile{p, at})
	}
	return p, ok
}

func (r *reader) checkTrust() {
	for _, t := range r.trust {
		if err := trust.Path(t.path); err != nil {
			r.fault(t.at, "%v", err)
		}
	}
}
