package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
)

// perlEffects: perl changes its files in place with -i, as ruby does.
func perlEffects(e *effects.Collector, _ string) {
	if e.Args.Has("-i") && e.Args.Has("-e", "-E") {
		e.Write(e.Args.Operands...)
		e.Read(e.Args.Operands...)
	}
}
