package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// maxMade is how many files may be made of one another in a row.
const maxMade = 8

// runnable is the content of a file that the text runs: what the text wrote into it, what the
// text made it of, or what was found in it.
func (fs *overlay) runnable(p, file string) (stream, bool) {
	if s, ok := fs.contents[p]; ok {
		return s, true
	}
	if s, ok := fs.madeOf(p); ok {
		return s, true
	}
	return fs.foundIn(file)
}

// madeOf is what a file holds that the text makes of files which were found. Of several that
// it may be made of, it has the text of each.
func (fs *overlay) madeOf(p string) (stream, bool) {
	if fs.at.Contents == nil || len(fs.transfers) == 0 || p == "" || fs.madeBy >= maxMade {
		return stream{}, false
	}
	fs.madeBy++
	defer func() { fs.madeBy-- }()
	var all stream
	upwards(p, func(to, below string) bool {
		for _, t := range fs.transfers[to] {
			for _, s := range fs.brought(t, to, below) {
				all = all.besides(s)
			}
		}
		return fs.spend(1)
	})
	return all, all.present
}

// upwards visits a path and the folders above it, each with what lies below it, until visit
// is false.
func upwards(p string, visit func(to, below string) bool) {
	for to := p; ; to = path.Dir(to) {
		if !visit(to, strings.TrimPrefix(p[len(to):], "/")) || strings.Trim(to, ".~/") == "" {
			return
		}
		if path.Dir(to) == "." {
			visit(".", p)
			return
		}
	}
}

// brought is what a transfer puts into the file below its path. What an edit in place puts
// there is the text's own.
func (fs *overlay) brought(t transfer, to, below string) []stream {
	if !t.reaches(below) || t.kind == compiledFrom {
		return nil
	}
	if t.kind == written && slices.Contains(t.from, to) {
		return []stream{fs.unfollowed(nil)}
	}
	if t.kind != copied {
		return []stream{fs.unfollowed(t.from)}
	}
	var out []stream
	for _, from := range t.from {
		source := sourceOf(from, below)
		if s, ok := fs.runnable(fs.at.Path(source, ""), source); ok {
			out = append(out, s)
		}
	}
	return out
}

// unfollowed is the unknown content that a program makes of files. It is settled if all of
// them are.
func (fs *overlay) unfollowed(from []string) stream {
	s := stream{present: true, found: true, settled: len(from) > 0}
	for _, file := range from {
		c, ok := (*fs.at.Contents)[file]
		s.settled = s.settled && ok && !c.Recent
	}
	return s
}

// besides is a stream that may be either of two.
func (s stream) besides(o stream) stream {
	if !s.present {
		return o
	}
	both := stream{present: true, known: s.known && o.known, file: o.file, found: s.found && o.found, settled: s.settled && o.settled,
		Taint: s.Taint.With(o.Taint)}
	if len(s.text)+len(o.text) > maxValue {
		both.known = false
	}
	if both.known {
		both.text = s.text + "\n" + o.text
	}
	return both
}

// fillsOf says how a call fills the files that it writes, and the words that name them.
func (a *analysis) fillsOf(name string, args *arguments) (programs.Fills, *arguments) {
	fills := a.about(name).Own.Fills
	if args.verb == nil {
		return fills, args
	}
	if fills = args.verb.Own.Fills; fills == "" {
		return "", args
	}
	verb := *args
	verb.operands = args.operands[1:]
	return fills, &verb
}

// spread notes what a program makes of the files that it is given, beside those that it names
// as written: unpacked files, parts of a file, files that lose their ending.
func (fs *overlay) spread(fills programs.Fills, inv *invocation, args *arguments) {
	if fills == programs.Parts {
		prefix := known("x")
		if len(args.operands) > 1 {
			prefix = args.operands[1]
		}
		if w, ok := args.value("-f", "--prefix"); ok {
			prefix = w
		}
		fs.transferTo(path.Dir(fs.path(prefix, inv.sc)), transfer{sourcesOf(fs.fileAt(first(args.operands), inv.sc)), unpackedInto})
		return
	}
	for _, w := range args.operands {
		if p := fs.path(w, inv.sc); p != "" {
			fs.madeUnknown(strings.TrimSuffix(p, path.Ext(p)), fs.fileAt(w, inv.sc))
		}
	}
}

// editsUnseen says that a program writes into files what no description tells.
func (a *analysis) editsUnseen(name string) bool {
	p := a.about(name)
	kind := p.Described.Operands
	return a.at.Contents != nil && (!p.Explained || kind == programs.First || kind == programs.Script || p.Language != "")
}

// patched notes the files that a patch changes: those that its text names, where that is known.
// Where it is not, they may be any below the folder.
func (a *analysis) patched(name string, inv *invocation, args *arguments) {
	patch, file := inv.in, inv.in.file
	words := after(args.operands, 1)
	if w, ok := args.value("-i", "--input"); ok && name == "patch" {
		words = []word{w}
	} else if name == "patch" && len(args.operands) > 0 {
		a.madeUnknown(a.path(args.operands[0], inv.sc), file)
	}
	there := inv.sc
	if dir, ok := args.value(map[string][]string{"patch": {"-d", "--directory"}, "git": {"-C"}}[name]...); ok {
		there = a.standing(dir, inv.sc)
	}
	for _, w := range words {
		a.seeksFile(w, there)
		file, patch = a.fileAt(w, inv.sc), a.stored(w, inv.sc)
		a.patchTargets(patch, file, inv, args)
	}
	if len(words) == 0 {
		a.sought = add(a.sought, file)
		a.patchTargets(patch, file, inv, args)
	}
}

// patchTargets notes the files that one patch changes.
func (a *analysis) patchTargets(patch stream, file string, inv *invocation, args *arguments) {
	switch {
	case patch.known:
		for _, p := range a.patchedPaths(patch, inv, args) {
			a.madeUnknown(p, file)
		}
	case patch.present:
		folder := known(".")
		if dir, ok := args.value("-d", "--directory", "-C"); ok {
			folder = dir
		}
		a.transferTo(a.path(folder, inv.sc), transfer{sourcesOf(file), unpackedInto})
	}
}

// madeUnknown notes that a file gets a content which is not followed, and of what.
func (fs *overlay) madeUnknown(p, from string) { fs.transferTo(p, transfer{sourcesOf(from), written}) }

func sourcesOf(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}
