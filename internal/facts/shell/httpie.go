package shell

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// httpie asks for an address, which a method may precede. What follows are headers, parameters and fields, of which those
// of the form NAME@FILE, NAME=@FILE and NAME:=@FILE are sent from files.
func httpieEffects(e *effect, _ string) {
	ops := e.args.operands
	if len(ops) > 1 && httpieMethod.MatchString(ops[0].text) {
		ops = ops[1:]
	}
	if len(ops) == 0 {
		return
	}
	switch address := ops[0]; {
	case strings.HasPrefix(address.text, ":"): // a port, or a path
		e.host("localhost")
	case !e.url(address):
		e.host(value.BareHost(address.text))
	}
	for _, item := range ops[1:] {
		httpieItem(e, item)
	}
}

// httpieItem is a header, parameter or field. A backslash keeps what follows from parting name and value: then any file
// that it may name counts, and a word that parts nothing may be the address itself.
func httpieItem(e *effect, item word) {
	name, file, found := strings.Cut(item.text, "@")
	switch {
	case found && (strings.Contains(item.text, `\`) || !strings.ContainsAny(strings.TrimRight(name, "=:"), "=:")):
		file, _, _ = strings.Cut(file, ";")
		e.read(part(item, file))
	case !strings.ContainsAny(item.text, "=@") && !e.url(item):
		e.host(value.BareHost(item.text))
	}
}

var httpieMethod = regexp.MustCompile(`^[A-Za-z]+$`)
