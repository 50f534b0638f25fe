package grammars

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// digEffects: dig asks the server after "@" for names.
func digEffects(e *effects.Collector, _ string) {
	ops := e.Args.Operands
	for _, w := range ops {
		if server, ok := strings.CutPrefix(w.Text, "@"); ok {
			e.Host(value.NormalHost(server))
		} else if strings.Contains(w.Text, ".") {
			e.Host(value.NormalHost(w.Text))
		}
	}
}
