package httpapi

import (
	"errors"
	"net/url"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// CheckAddress takes the addresses to which a credential can be sent so that no host
// on the way hears it.
func CheckAddress(address string) error {
	parsed, err := url.Parse(address)
	if err == nil && parsed.User != nil {
		return errors.New("want an address without a user: give the credential by its own setting")
	}
	if err != nil || parsed.Host == "" || parsed.RawQuery != "" || !safe(parsed) {
		return errors.New("want https://host/path, or http:// of this machine")
	}
	return nil
}

func safe(address *url.URL) bool {
	if address.Scheme == "https" {
		return true
	}
	return address.Scheme == "http" && settings.IsLoopback(address.Hostname())
}
