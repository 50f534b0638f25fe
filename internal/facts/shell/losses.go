package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// losses are the files whose content is gone after the call: deleted, emptied,
// overwritten from nothing, or moved away.
func (e *effect) losses() {
	ops := e.args.operands
	switch e.own.Loses {
	case programs.All:
		e.lose(ops...)
	case programs.Sources:
		e.lose(e.sources(ops)...)
	case programs.UnlessAppending:
		if !e.args.has("-a", "--append") {
			e.lose(ops...)
		}
	case programs.OntoDevice:
		if len(ops) > 1 && strings.HasPrefix(ops[0].text, "/dev/") {
			e.lose(ops[len(ops)-1])
		}
	}
}

func (e *effect) lose(words ...word) {
	for _, w := range words {
		e.lost = e.fs.addPaths(e.lost, w, e.sc, e.own.Unlinks == "")
	}
}
