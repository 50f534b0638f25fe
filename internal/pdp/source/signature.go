package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Key is what a bundle must be signed by, as by "opa sign" or "opa build". It is read
// for each bundle, so that it can be renewed.
type Key struct {
	// File holds a public key or certificate as PEM or, for the algorithms HS256, HS384
	// and HS512, a secret.
	File string
	// Algorithm is the one of JSON Web Algorithms that is to be used, such as "RS256".
	Algorithm string
	// Scope must be that of the signature; empty, where it has none.
	Scope string
}

// signatures is where a bundle is signed.
const signatures = ".signatures.json"

// check is nil if the members of a bundle are those that were signed, all and no other.
// Without a key they must not be signed, since there is nothing to verify the signature by.
func (k *Key) check(members []File) error {
	at := slices.IndexFunc(members, func(f File) bool { return f.Place == signatures })
	switch {
	case k == nil && at >= 0:
		return errors.New("it is signed, and there is no key to check it by: policies.bundle.key names one")
	case k == nil:
		return nil
	case at < 0:
		return errors.New("it is not signed, and policies.bundle.key says by what it must be")
	}
	signed, err := k.signed(members[at].Text)
	if err != nil {
		return fmt.Errorf("its signature does not hold: %w", err)
	}
	for i, f := range members {
		if i == at {
			continue
		}
		if err := bundle.VerifyBundleFile(f.Place, *bytes.NewBuffer(f.Text), signed); err != nil {
			return fmt.Errorf("its signature does not hold: %w", err)
		}
	}
	if len(signed) > 0 {
		return fmt.Errorf("its signature does not hold: it lacks %s, which was signed", slices.Sorted(maps.Keys(signed))[0])
	}
	return nil
}

// signed are the files that a signature is of, by their places.
func (k *Key) signed(text []byte) (map[string]bundle.FileInfo, error) {
	var signature bundle.SignaturesConfig
	if err := json.Unmarshal(text, &signature); err != nil {
		return nil, err
	}
	key, err := k.read()
	if err != nil {
		return nil, err
	}
	const id = "policies.bundle.key" // whatever a signature says that its key is called
	keys := map[string]*bundle.KeyConfig{id: {Key: key, Algorithm: k.Algorithm, Scope: k.Scope}}
	return bundle.VerifyBundleSignature(signature, bundle.NewVerificationConfig(keys, id, k.Scope, nil))
}

func (k *Key) read() (string, error) {
	read := trust.Public
	if strings.HasPrefix(k.Algorithm, "HS") {
		read = trust.Key
	}
	text, err := read(k.File)
	return string(text), err
}
