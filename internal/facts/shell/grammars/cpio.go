package grammars

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// cpioEffects: cpio writes below the folder that it is given, or below the current one.
func cpioEffects(e *effects.Collector, _ string) {
	ops := e.Args.Operands
	if dir, ok := e.Args.Value("-D", "--directory"); ok {
		ops = []word.Word{dir}
	} else if e.Args.Has("-i", "--extract") || len(ops) == 0 {
		ops = []word.Word{word.Of(".")}
	}
	if e.Args.Has("-i", "--extract", "-p", "--pass-through") {
		e.Write(ops...)
	}
}
