package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// Fetches is of a tool that fetches the address in an entry of its input.
func Fetches(key string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		address, err := c.Input.Text(key)
		if err != nil {
			return Meaning{}, err
		}
		return reaching(address)
	}
}

// mostAddresses is how many a text may name.
const mostAddresses = 20

// FetchesAll is of a tool that fetches all addresses that the text in an entry of its input names, each a word of it. Of characters
// that only some take for blanks none may be in such a word.
func FetchesAll(key string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		text, err := c.Input.Text(key)
		if err != nil {
			return Meaning{}, err
		}
		var addresses []string
		isBlank := func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) }
		for _, word := range strings.FieldsFunc(text, isBlank) {
			if strings.Contains(word, "://") {
				addresses = append(addresses, word)
			}
		}
		if len(addresses) > mostAddresses {
			return Meaning{}, fmt.Errorf("%s names %d addresses, want at most %d", key, len(addresses), mostAddresses)
		}
		return reaching(addresses...)
	}
}

// FetchesEach is of a tool that fetches the addresses in a list of its input.
func FetchesEach(key string) func(Call) (Meaning, error) {
	return func(c Call) (Meaning, error) {
		var addresses []string
		if err := json.Unmarshal(c.Input[key], &addresses); err != nil || len(addresses) > mostAddresses {
			return Meaning{}, fmt.Errorf("%s is no list of at most %d addresses", key, mostAddresses)
		}
		return reaching(addresses...)
	}
}

// SearchesWeb is of a tool that sends what it searches for to an address, which the client's own service may do for it.
func SearchesWeb(address string) func(Call) (Meaning, error) {
	return func(Call) (Meaning, error) { return reaching(address) }
}

// reaching is reaching addresses in which nothing is read by a client in another way than by the policies that judge it.
func reaching(addresses ...string) (Meaning, error) {
	line := []string{"curl", "--"}
	for _, address := range addresses {
		if !isPlainAddress(address) {
			return Meaning{}, fmt.Errorf("%.200q: write the address as http://host/… or https://host/…, its host with letters, "+
				"digits, dots and hyphens, and what is not ASCII after it as %%XX", address)
		}
		line = append(line, address)
	}
	if len(addresses) == 0 {
		return Meaning{}, errors.New("it names no address")
	}
	return Meaning{Kind: Outward, Command: shellquote.Join(line...), Addresses: addresses}, nil
}

// isPlainAddress says whether everybody finds the same host in it.
func isPlainAddress(address string) bool {
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(address, "http://")
	}
	host, _, _ := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(rest), "/")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }
	unhosted := func(r rune) bool { return !IsPlain(r) && !strings.ContainsRune(".-[]:", r) }
	return ok && host != "" && !strings.ContainsFunc(address, odd) && !strings.ContainsFunc(host, unhosted)
}

// IsPlain says of a letter or digit that everybody reads it alike.
func IsPlain(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
