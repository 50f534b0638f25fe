package shell

import (
	"path"
	"strings"
)

// patched notes the files that a patch changes: those that its text names, where that is known.
// Where it is not, they may be any below the folder.
func (rd *reader) patched(name string, inv *invocation, args *arguments) {
	patch, file := inv.in, inv.in.file
	words := after(args.operands, 1)
	if w, ok := args.value("-i", "--input"); ok && name == "patch" {
		words = []word{w}
	} else if name == "patch" && len(args.operands) > 0 {
		rd.madeUnknown(rd.path(args.operands[0], inv.sc), file)
	}
	there := inv.sc
	if dir, ok := args.value(map[string][]string{"patch": {"-d", "--directory"}, "git": {"-C"}}[name]...); ok {
		there = rd.standing(dir, inv.sc)
	}
	for _, w := range words {
		rd.seeksFile(w, there)
		file, patch = rd.fileAt(w, inv.sc), rd.stored(w, inv.sc)
		rd.patchTargets(patch, file, inv, args)
	}
	if len(words) == 0 {
		rd.sought = add(rd.sought, file)
		rd.patchTargets(patch, file, inv, args)
	}
}

// patchTargets notes the files that one patch changes.
func (rd *reader) patchTargets(patch stream, file string, inv *invocation, args *arguments) {
	switch {
	case patch.known:
		for _, p := range rd.patchedPaths(patch, inv, args) {
			rd.madeUnknown(p, file)
		}
	case patch.present:
		folder := known(".")
		if dir, ok := args.value("-d", "--directory", "-C"); ok {
			folder = dir
		}
		rd.transferTo(rd.path(folder, inv.sc), sourcesOf(file), unpackedInto)
	}
}

// patches notes the files that a patch on the standard input changes.
func (rd *reader) patches(name string, inv *invocation, args *arguments) {
	rd.patched(name, inv, args)
	rd.alsoTouches(inv.made, nil, rd.patchedPaths(inv.in, inv, args))
}

// patchedPaths are the files that a patch names.
func (rd *reader) patchedPaths(patch stream, inv *invocation, args *arguments) []string {
	e := newEffect(rd.overlay, inv.sc)
	strip, given := args.value("-p", "--strip")
	for _, line := range strings.Split(patch.text, "\n") {
		name, ok := strings.CutPrefix(line, "+++ ")
		if !ok {
			name, ok = strings.CutPrefix(line, "--- ")
		}
		if !ok || !rd.spend(1) {
			continue
		}
		name, _, _ = strings.Cut(name, "\t")
		if !(given && strip.text == "0") && !args.has("-p0") && !strings.HasPrefix(name, "/") {
			_, name, _ = strings.Cut(name, "/")
		}
		if dir, ok := args.value("-d", "--directory", "-C"); ok {
			name = path.Join(dir.text, name)
		}
		e.write(word{text: strings.TrimSpace(name), known: patch.known})
	}
	return e.writes
}
