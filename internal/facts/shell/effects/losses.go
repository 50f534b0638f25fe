package effects

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// losses are the files whose content is gone after the call: deleted, emptied,
// overwritten from nothing, or moved away.
func (e *Collector) losses() {
	ops := e.Args.Operands
	switch e.Own.Loses {
	case programs.All:
		e.Lose(ops...)
	case programs.Sources:
		e.Lose(e.sources(ops)...)
	case programs.UnlessAppending:
		if !e.Args.Has("-a", "--append") {
			e.Lose(ops...)
		}
	case programs.OntoDevice:
		if len(ops) > 1 && strings.HasPrefix(ops[0].Text, "/dev/") {
			e.Lose(ops[len(ops)-1])
		}
	}
}

// Lose notes that the content of files is gone after the call.
func (e *Collector) Lose(words ...word.Word) {
	for _, w := range words {
		e.Losses = e.FS.AddPaths(e.Losses, w, e.Scope, e.Own.Unlinks == "")
	}
}
