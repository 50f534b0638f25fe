package grammars

import (
	"cmp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// socat runs what its EXEC and SYSTEM addresses name.
func (rd *Reader) socat(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	for _, w := range addresses(args.Operands) {
		kind, rest, _ := strings.Cut(w.Text, ":")
		kind, _, _ = strings.Cut(strings.ToUpper(kind), ",")
		if kind == "EXEC" || kind == "SYSTEM" || kind == "SHELL" {
			code, _, _ := strings.Cut(cmp.Or(rest, "sh"), ",")
			return rd.networkText("socat", inv, word.Part(w, strings.Trim(code, `"'`))), true
		}
	}
	return call.Result{}, false
}

// addresses are those that the operands name: one of them may be two, for reading and for writing.
func addresses(operands []word.Word) []word.Word {
	var all []word.Word
	for _, w := range operands {
		for one := range strings.SplitSeq(w.Text, "!!") {
			all = append(all, word.Part(w, one))
		}
	}
	return all
}

func socatEffects(e *effects.Collector, _ string) {
	for _, w := range addresses(e.Args.Operands) {
		kind, rest, _ := strings.Cut(w.Text, ":")
		if plain, _, _ := strings.Cut(kind, ","); strings.Contains(plain, "/") { // socat takes it for a file
			kind, rest = "gopen", w.Text
		}
		file, _, _ := strings.Cut(rest, ",")
		switch strings.ToLower(strings.TrimRight(kind, "46")) {
		case "file", "open", "gopen":
			e.Read(word.Part(w, file))
		case "create", "creat":
			e.Write(word.Part(w, file))
		case "tcp", "tcp-connect", "udp", "udp-connect", "openssl", "openssl-connect", "ssl", "socks4a", "proxy":
			e.Host(value.BareHost(strings.SplitN(rest, ",", 2)[0]))
		}
	}
}
