package env

import (
	"iter"

	"github.com/bailiff-dev/bailiff"
)

// All are the secrets of the sidecar's sources and of people's.
type All struct {
	Shared   *Sources
	Personal *Personal
}

// Generation grows with either.
func (a All) Generation() uint64 { return a.Shared.Generation() + a.Personal.Generation() }

// Secrets are all values by their names.
func (a All) Secrets() iter.Seq2[string, bailiff.Secret] {
	return func(yield func(string, bailiff.Secret) bool) {
		for _, each := range []iter.Seq2[string, bailiff.Secret]{a.Shared.Secrets(), a.Personal.Secrets()} {
			for name, value := range each {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}
