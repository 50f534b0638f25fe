package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// socat runs what its EXEC and SYSTEM addresses name.
func (a *analysis) socat(_ string, inv *invocation, args *arguments) (result, bool) {
	for _, w := range args.operands {
		kind, rest, _ := strings.Cut(w.text, ":")
		if kind = strings.ToUpper(kind); kind == "EXEC" || kind == "SYSTEM" || kind == "SHELL" {
			code, _, _ := strings.Cut(rest, ",")
			return a.fed("socat", inv, part(w, strings.Trim(code, `"'`))), true
		}
	}
	return result{}, false
}

func (e *effect) socat(_ string) {
	ops := e.args.operands
	for _, w := range ops {
		kind, rest, _ := strings.Cut(w.text, ":")
		switch strings.ToLower(strings.TrimRight(kind, "46")) {
		case "tcp", "tcp-connect", "udp", "udp-connect", "openssl", "openssl-connect", "ssl", "socks4a", "proxy":
			e.host(value.BareHost(strings.SplitN(rest, ",", 2)[0]))
		}
	}
}
