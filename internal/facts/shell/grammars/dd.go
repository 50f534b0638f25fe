package grammars

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// ddEffects: dd reads the operand "if=" and writes "of=".
func ddEffects(e *effects.Collector, _ string) {
	ops := e.Args.Operands
	for _, w := range ops {
		if file, ok := strings.CutPrefix(w.Text, "if="); ok {
			e.Read(word.Part(w, file))
		} else if file, ok := strings.CutPrefix(w.Text, "of="); ok {
			e.Write(word.Part(w, file))
		}
	}
	deviceCopy(e, ops)
}

// deviceCopy is the target of a dd that copies a device.
func deviceCopy(e *effects.Collector, ops []word.Word) {
	device, target := false, word.Word{}
	for _, w := range ops {
		device = device || strings.HasPrefix(w.Text, "if=/dev/")
		if file, ok := strings.CutPrefix(w.Text, "of="); ok {
			target = word.Part(w, file)
		}
	}
	if device {
		e.Lose(target)
	}
}
