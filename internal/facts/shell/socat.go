package shell

import (
	"cmp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// socat runs what its EXEC and SYSTEM addresses name.
func (rd *reader) socat(_ string, inv *invocation, args *arguments) (result, bool) {
	for _, w := range addresses(args.operands) {
		kind, rest, _ := strings.Cut(w.text, ":")
		kind, _, _ = strings.Cut(strings.ToUpper(kind), ",")
		if kind == "EXEC" || kind == "SYSTEM" || kind == "SHELL" {
			code, _, _ := strings.Cut(cmp.Or(rest, "sh"), ",")
			return rd.fed("socat", inv, part(w, strings.Trim(code, `"'`))), true
		}
	}
	return result{}, false
}

// addresses are those that the operands name: one of them may be two, for reading and for writing.
func addresses(operands []word) []word {
	var all []word
	for _, w := range operands {
		for one := range strings.SplitSeq(w.text, "!!") {
			all = append(all, part(w, one))
		}
	}
	return all
}

func socatEffects(e *effect, _ string) {
	for _, w := range addresses(e.args.operands) {
		kind, rest, _ := strings.Cut(w.text, ":")
		if plain, _, _ := strings.Cut(kind, ","); strings.Contains(plain, "/") { // socat takes it for a file
			kind, rest = "gopen", w.text
		}
		file, _, _ := strings.Cut(rest, ",")
		switch strings.ToLower(strings.TrimRight(kind, "46")) {
		case "file", "open", "gopen":
			e.read(part(w, file))
		case "create", "creat":
			e.write(part(w, file))
		case "tcp", "tcp-connect", "udp", "udp-connect", "openssl", "openssl-connect", "ssl", "socks4a", "proxy":
			e.host(value.BareHost(strings.SplitN(rest, ",", 2)[0]))
		}
	}
}
