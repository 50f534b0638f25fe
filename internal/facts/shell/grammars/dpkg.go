package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// dpkgEffects: dpkg writes the files of a package into the folder that comes second.
func dpkgEffects(e *effects.Collector, _ string) {
	if !e.Args.Has("-x", "--extract", "-X", "--vextract", "-e", "--control") {
		return
	}
	switch ops := e.Args.Operands; {
	case len(ops) > 1:
		e.Write(ops[1:]...)
	default:
		e.Write(word.Of("."))
	}
	e.Read(word.First(e.Args.Operands))
}
