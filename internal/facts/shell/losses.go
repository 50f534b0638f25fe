package shell

import "strings"

// losses are the files whose content is gone after the call: deleted, emptied,
// overwritten from nothing, or moved away.
func (e *effect) losses(name string) {
	ops := e.args.operands
	switch name {
	case "rm", "unlink", "shred", "srm", "wipe", "trash", "truncate":
		e.lose(ops...)
	case "mv":
		if _, into := e.args.value("-t", "--target-directory"); !into && len(ops) > 0 {
			ops = ops[:len(ops)-1]
		}
		e.lose(ops...)
	case "tee", "sponge":
		if !e.args.has("-a", "--append") {
			e.lose(ops...)
		}
	case "cp", "install", "ln":
		if len(ops) > 1 && strings.HasPrefix(ops[0].text, "/dev/") {
			e.lose(ops[len(ops)-1])
		}
	case "dd":
		e.overwritten(ops)
	}
}

// overwritten is the target of a dd that copies a device.
func (e *effect) overwritten(ops []word) {
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

func (e *effect) lose(words ...word) {
	for _, w := range words {
		e.lost = add(e.lost, e.a.path(w, e.sc))
	}
}
