package grammars

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// httpieEffects: httpie asks for an address, which a method may precede. What follows are headers, parameters and fields, of which those
// of the form NAME@FILE, NAME=@FILE and NAME:=@FILE are sent from files.
func httpieEffects(e *effects.Collector, _ string) {
	ops := e.Args.Operands
	if len(ops) > 1 && httpieMethod.MatchString(ops[0].Text) {
		ops = ops[1:]
	}
	if len(ops) == 0 {
		return
	}
	switch address := ops[0]; {
	case strings.HasPrefix(address.Text, ":"): // a port, or a path
		e.Host("localhost")
	case !e.URL(address):
		e.Host(value.BareHost(address.Text))
	}
	for _, item := range ops[1:] {
		httpieItem(e, item)
	}
}

// httpieItem is a header, parameter or field. A backslash keeps what follows from parting name and value: then any file
// that it may name counts, and a word that parts nothing may be the address itself.
func httpieItem(e *effects.Collector, item word.Word) {
	name, file, found := strings.Cut(item.Text, "@")
	switch {
	case found && (strings.Contains(item.Text, `\`) || !strings.ContainsAny(strings.TrimRight(name, "=:"), "=:")):
		file, _, _ = strings.Cut(file, ";")
		e.Read(word.Part(item, file))
	case !strings.ContainsAny(item.Text, "=@") && !e.URL(item):
		e.Host(value.BareHost(item.Text))
	}
}

var httpieMethod = regexp.MustCompile(`^[A-Za-z]+$`)
