package shell

import (
	"strings"
)

// dd reads the operand "if=" and writes "of=".
func ddEffects(e *effect, _ string) {
	ops := e.args.operands
	for _, w := range ops {
		if file, ok := strings.CutPrefix(w.text, "if="); ok {
			e.read(part(w, file))
		} else if file, ok := strings.CutPrefix(w.text, "of="); ok {
			e.write(part(w, file))
		}
	}
	overwritten(e, ops)
}

// overwritten is the target of a dd that copies a device.
func overwritten(e *effect, ops []word) {
	device, target := false, word{}
	for _, w := range ops {
		device = device || strings.HasPrefix(w.text, "if=/dev/")
		if file, ok := strings.CutPrefix(w.text, "of="); ok {
			target = part(w, file)
		}
	}
	if device {
		e.lose(target)
	}
}
