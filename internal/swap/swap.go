// Package swap makes stand-ins for the values of variables, finds them in requests on their
// way out of a sandbox, and puts the values in.
//
// Here: the shape of a stand-in, the places in a request where the value may be put in (the
// headers that a row names), and the search for stand-ins anywhere else.
//
// Promised: a stand-in tells nothing of its value but its length, its public prefix and which
// of its characters are letters or digits; a value is put in whole, only in place of its whole
// stand-in, only in a header that the row names and only for a host that the row names.
//
// Not here: bodies, which are left alone, and who may send the request.
package swap

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/redact"
)

const (
	alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	hexadecimal  = "0123456789abcdef"
	// longestPrefix is how much of a value may be a public prefix, such as "github_pat_".
	longestPrefix = 16
	// leastBits is how many random bits a stand-in has.
	leastBits = 128
)

// errShape is a value that has no stand-in of its own shape.
var errShape = errors.New("its value is too short or no single word of letters, digits and -_.=+/: forward it, or use a longer token")

// StandIn is a random text of a value's shape: clients that look at a token's prefix, length
// and letters take it for one.
func StandIn(value string) (string, error) {
	begin := prefix(value)
	alphabet, bits := alphanumeric, 5 // fewer than 62 letters have, to be sure
	if isOf(value[begin:], hexadecimal) {
		alphabet, bits = hexadecimal, 4
	}
	made, random := []byte(value), 0
	for i := begin; i < len(made); i++ {
		switch {
		case strings.IndexByte(alphanumeric, made[i]) >= 0:
			made[i] = alphabet[pick(len(alphabet))]
			random += bits
		case strings.IndexByte("-_.=+/", made[i]) < 0:
			return "", errShape
		}
	}
	if random < leastBits {
		return "", errShape
	}
	return string(made), nil
}

// prefix is the length of what tokens of one kind begin with.
func prefix(value string) int {
	head := value[:min(len(value), longestPrefix)]
	return strings.LastIndexAny(head, "_-") + 1
}

func isOf(text, alphabet string) bool {
	return strings.Trim(text, alphabet) == "" && text != ""
}

func pick(n int) int {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // the source of the system's random numbers never fails
	}
	return int(i.Int64())
}

// In puts values in for the stand-ins that stand where they may in the head of a request to
// a host, and returns the new head with the names of those variables.
func In(head http.Header, host string, all []bailiff.Swapped) (swapped http.Header, names []string) {
	swapped = head.Clone()
	for _, one := range all {
		if !slices.Contains(one.Hosts, host) {
			continue
		}
		for _, name := range one.In {
			values := swapped[http.CanonicalHeaderKey(name)]
			for i, value := range values {
				if put, found := inValue(value, one); found {
					values[i], names = put, append(names, one.Name)
				}
			}
		}
	}
	return swapped, slices.Compact(names)
}

// inValue puts a value in for a stand-in that is the whole of a header, or all of it after a
// scheme: "Bearer X", "token X", or the name or the password of "Basic base64(name:password)".
func inValue(header string, one bailiff.Swapped) (put string, found bool) {
	scheme, rest, hasScheme := strings.Cut(header, " ")
	switch {
	case header == one.StandIn:
		return one.Value.Reveal(), true
	case !hasScheme:
		return "", false
	case rest == one.StandIn:
		return scheme + " " + one.Value.Reveal(), true
	case !strings.EqualFold(scheme, "basic"):
		return "", false
	}
	plain, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return "", false
	}
	name, password, _ := strings.Cut(string(plain), ":")
	if name != one.StandIn && password != one.StandIn {
		return "", false
	}
	for _, part := range []*string{&name, &password} {
		if *part == one.StandIn {
			*part = one.Value.Reveal()
		}
	}
	return scheme + " " + base64.StdEncoding.EncodeToString([]byte(name+":"+password)), true
}

// Finder finds stand-ins. It is safe for concurrent use.
type Finder struct {
	names []string
	forms []*redact.Redactor // by which those of names are found
}

// NewFinder returns one for the stand-ins of some variables.
func NewFinder(all []bailiff.Swapped) Finder {
	var f Finder
	for _, one := range all {
		f.names = append(f.names, one.Name)
		f.forms = append(f.forms, redact.New(map[string]bailiff.Secret{one.Name: bailiff.NewSecret(one.StandIn)}))
	}
	return f
}

// Stray is the first variable whose stand-in stands in the head or the URL of a request in any
// form that [redact] knows; empty if none does.
func (f Finder) Stray(head http.Header, at *url.URL) string {
	if len(f.names) == 0 {
		return ""
	}
	query, _ := url.QueryUnescape(at.RawQuery) // as it is written, it stands there too
	text := []byte(at.String() + "\n" + at.Path + "\n" + query + "\n")
	for name, values := range head {
		for _, value := range values {
			text = fmt.Appendf(text, "%s: %s\n%s\n", name, value, basic(value))
		}
	}
	for i, form := range f.forms {
		if !bytes.Equal(form.Redact(text), text) {
			return f.names[i]
		}
	}
	return ""
}

// basic is what a header of Basic authentication holds.
func basic(header string) []byte {
	_, rest, _ := strings.Cut(header, " ")
	plain, _ := base64.StdEncoding.DecodeString(rest) // what is none holds no name and password
	return plain
}
