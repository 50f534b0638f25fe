package tables

import (
	"encoding/json"
	"math"
	"net/netip"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// destination is one row of what a sandbox may reach.
var destination = fields(map[string]shape{
	"ports": list(port), "protocol": word("https", "http", "tcp"), "methods": list(method), "paths": list(pattern), "private": truth,
	"intercept": truth, "websocket": truth, "upload_mb": count, "download_mb": count,
})

// destinations are rows by host, or by a range of addresses. A name that is not written in its
// one spelling would match nothing.
var destinations = entries("an object", func(name string, value any, at keys, tell reporter) {
	if strings.Contains(name, "/") {
		prefix(name, at, tell)
		list(destination)(value, at, tell)
		return
	}
	below, isWild := strings.CutPrefix(name, "*.")
	host, err := reach.ParseHost(below)
	_, isAddress := host.Address()
	switch {
	case err != nil && !isWild:
		if host, err = reach.ParseHost("[" + name + "]"); err != nil || host.String() != name {
			tell(at, "this is no name of a host, no address, and no *. before a name")
		}
	case err != nil || isWild && isAddress:
		tell(at, "this is no name of a host, no address, and no *. before a name")
	case host.String() != below:
		tell(at, "a host is written "+host.String())
	case isWild && host.Domain() == "":
		tell(at, "everything below "+below+" belongs to many: name a domain of one owner")
	}
	list(destination)(value, at, tell)
})

// prefix is a range of addresses.
func prefix(name string, at keys, tell reporter) {
	switch written, err := netip.ParsePrefix(name); {
	case err != nil:
		tell(at, "this is no range of addresses, such as 10.1.0.0/16")
	case written.Masked().String() != name || written.Addr().Is4In6():
		tell(at, "a range is written "+netip.PrefixFrom(written.Addr().Unmap(), written.Bits()).Masked().String())
	}
}

func port(value any, at keys, tell reporter) {
	if describe(value, describeNumber("integer", 1, math.MaxUint16)) {
		return
	}
	written, _ := value.(json.Number)
	if _, err := reach.ParsePort(string(written)); err != nil {
		tell(at, wrongType(value, "a port from 1 to 65535"))
	}
}

// method is one of HTTP's: a method counts with its capitals, so others would match nothing.
func method(value any, at keys, tell reporter) {
	if describe(value, describeText("^[A-Z]+$")) {
		return
	}
	if said, ok := value.(string); !ok || said == "" || strings.Trim(said, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		tell(at, wrongType(value, "a method in capitals, as GET"))
	}
}

func pattern(value any, at keys, tell reporter) {
	if describe(value, describeText("^/")) {
		return
	}
	if said, ok := value.(string); !ok || !strings.HasPrefix(said, "/") {
		tell(at, wrongType(value, "a path that begins with /"))
	}
}
