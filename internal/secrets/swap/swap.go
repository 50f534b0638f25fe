// Package swap makes stand-ins for the values of variables, finds them in requests on their
// way out of a sandbox, and puts the values in.
//
// Here: the shape of a stand-in, the places in a request where the value may be put in (the
// headers, the parameters of the query and the path, as a row names them), and the search for
// stand-ins anywhere else.
//
// Promised: a stand-in tells nothing of its value but its length, its public prefix and which
// of its characters are letters or digits; a value is put in whole, only in place of its whole
// stand-in, only in a place that the row names and only for a host that the row names.
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
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
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
		case strings.IndexByte("-_.=+/:", made[i]) < 0:
			return "", errShape
		}
	}
	if random < leastBits {
		return "", errShape
	}
	return string(made), nil
}

// prefix is the length of what tokens of one kind begin with, or of the number of the account
// before a colon.
func prefix(value string) int {
	head := value[:min(len(value), longestPrefix)]
	if number, _, is := strings.Cut(head, ":"); is && isOf(number, "0123456789") {
		return len(number) + 1
	}
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

// Head is what a value may be put into: the headers of a request, and its URL.
type Head struct {
	Header http.Header
	URL    *url.URL
}

// Path is the place of a value in a segment of the path. The others are a header, alone or
// behind [InHeader], and a parameter behind [InQuery].
const (
	Path     = "path"
	InHeader = "header:"
	InQuery  = "query:"
)

// In puts values in for the stand-ins that stand where they may in the head of a request to
// a host, and returns the new head with the names of those variables.
func In(head Head, host string, all []bailiff.Swapped) (swapped Head, names []string) {
	at := *head.URL
	swapped = Head{head.Header.Clone(), &at}
	for _, one := range all {
		if !slices.Contains(one.Hosts, host) {
			continue
		}
		for _, place := range one.In {
			if swapped.put(place, one) {
				names = append(names, one.Name)
			}
		}
	}
	return swapped, slices.Compact(names)
}

// put puts one value in at a place.
func (h Head) put(place string, one bailiff.Swapped) (found bool) {
	if place == Path {
		return putInPath(h.URL, one)
	}
	if name, is := strings.CutPrefix(place, InQuery); is {
		return putInQuery(h.URL, name, one)
	}
	values := h.Header[http.CanonicalHeaderKey(strings.TrimPrefix(place, InHeader))]
	for i, value := range values {
		if put, is := inValue(value, one); is {
			values[i], found = put, true
		}
	}
	return found
}

// putInQuery puts a value in for a stand-in that is the whole of a parameter. The rest of the
// query stays as it was written.
func putInQuery(at *url.URL, name string, one bailiff.Swapped) (found bool) {
	parts := strings.Split(at.RawQuery, "&")
	for i, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		called, odd := url.QueryUnescape(key)
		said, wrong := url.QueryUnescape(value)
		if odd == nil && wrong == nil && called == name && said == one.StandIn {
			parts[i], found = key+"="+url.QueryEscape(one.Value.Reveal()), true
		}
	}
	at.RawQuery = strings.Join(parts, "&")
	return found
}

// putInPath puts a value in for a stand-in at the end of a segment, as in "/bot123:…/send". One
// with a slash would be two segments.
func putInPath(at *url.URL, one bailiff.Swapped) (found bool) {
	value := one.Value.Reveal()
	if strings.Contains(value, "/") {
		return false
	}
	segments := strings.Split(at.EscapedPath(), "/")
	for i, segment := range segments {
		if before, is := strings.CutSuffix(segment, one.StandIn); is {
			segments[i], found = before+value, true
		}
	}
	if !found {
		return false
	}
	escaped := strings.Join(segments, "/")
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return false
	}
	at.Path, at.RawPath = path, escaped
	return true
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

// NewFinder returns one for the stand-ins of some variables, but for those that may stand
// anywhere.
func NewFinder(all []bailiff.Swapped) Finder {
	var f Finder
	for _, one := range all {
		if one.StrayPasses {
			continue
		}
		f.names = append(f.names, one.Name)
		f.forms = append(f.forms, redact.New(map[string]bailiff.Secret{one.Name: bailiff.NewSecret(one.StandIn)}))
	}
	return f
}

// Stray is the first variable whose stand-in stands in the head of a request in any form that
// [redact] knows; empty if none does.
func (f Finder) Stray(head Head) string {
	if len(f.names) == 0 {
		return ""
	}
	text := head.text()
	for i, form := range f.forms {
		if !bytes.Equal(form.Redact(text), text) {
			return f.names[i]
		}
	}
	return ""
}

// FirstIn is the first of some variables whose stand-in stands in the head of a request as it is; empty if none does.
func FirstIn(head Head, all []bailiff.Swapped) string {
	if len(all) == 0 {
		return ""
	}
	text := head.text()
	for _, one := range all {
		if bytes.Contains(text, []byte(one.StandIn)) {
			return one.Name
		}
	}
	return ""
}

// text is all that stands in a head, decoded as far as servers do so.
func (head Head) text() []byte {
	query, _ := url.QueryUnescape(head.URL.RawQuery) // as it is written, it stands there too
	text := []byte(head.URL.String() + "\n" + head.URL.Path + "\n" + query + "\n")
	for name, values := range head.Header {
		for _, value := range values {
			text = fmt.Appendf(text, "%s: %s\n%s\n", name, value, basic(value))
		}
	}
	return text
}

// basic is what a header of Basic authentication holds.
func basic(header string) []byte {
	_, rest, _ := strings.Cut(header, " ")
	plain, _ := base64.StdEncoding.DecodeString(rest) // what is none holds no name and password
	return plain
}
