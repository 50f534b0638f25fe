package overlay

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// transfer is content that goes from files to a path.
type transfer struct {
	from []string
	kind Kind
}

// Kind says how a path gets content from files.
type Kind int

const (
	// Written: the path itself gets the content.
	Written Kind = iota
	// Copied: files below the path get that of the files below from.
	Copied
	// UnpackedInto: files below the path are made of from. UnpackedBeside: other files may lie there too.
	UnpackedInto
	UnpackedBeside
	// Divided: files below the path are parts of from.
	Divided
	// CompiledFrom: the path itself is machine code, made of from.
	CompiledFrom
)

// Transfer notes a transfer. One from no file counts only where files were found.
func (fs *FS) Transfer(to string, from []string, kind Kind) {
	if to == "" || len(from) == 0 && fs.At.Contents == nil {
		return
	}
	if fs.transfers == nil {
		fs.transfers = map[string][]transfer{}
	}
	fs.transfers[to] = append(fs.transfers[to], transfer{from, kind})
}

// RunSources adds the files whose content the text puts into those that it runs, and notes which it fills, and that one of them is from
// the network.
func (fs *FS) RunSources() {
	if len(fs.transfers)+len(fs.contents) == 0 {
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(fs.Files); i++ {
		if seen[fs.Files[i]] {
			continue
		}
		seen[fs.Files[i]] = true
		at := fs.At.Path(fs.Files[i], "")
		fs.NoteRun(value.Taint{Fetched: fs.contents[at].Fetched})
		if slices.Contains(fs.builds, at) {
			fs.Hide()
		}
		_, isMade := fs.contents[at]
		upwards(at, func(to, below string) bool {
			isMade = fs.addSources(to, below) || isMade
			return fs.Spend(1)
		})
		if isMade {
			fs.Made = append(fs.Made, fs.Files[i])
		}
	}
}

// reaches says that a transfer may fill what lies below its path.
func (t transfer) reaches(below string) bool {
	return below == "" || t.kind != Written && t.kind != CompiledFrom
}

// addSources adds what the file below a path, or the path itself, is made of; it is true where something else is put there.
func (fs *FS) addSources(to, below string) (isMade bool) {
	for _, t := range fs.transfers[to] {
		if !t.reaches(below) {
			continue
		}
		isMade = isMade || !slices.Contains(t.from, path.Join(to, below))
		for _, from := range t.from {
			if t.kind == Copied {
				from = sourceOf(from, below)
			}
			if !fs.Spend(1) || len(fs.Files) > word.MaxFields {
				fs.Complete = false
				return isMade
			}
			fs.Files = append(fs.Files, from)
			if t.kind != CompiledFrom {
				fs.Sources = append(fs.Sources, from)
			}
		}
	}
	return isMade
}

// sourceOf is the file that becomes the one below a folder, when from is copied there.
func sourceOf(from, below string) string {
	switch rest, ok := strings.CutPrefix(below, path.Base(from)); {
	case below == "" || ok && rest == "":
		return from
	case ok && rest[0] == '/':
		return from + rest
	}
	return from + "/" + below
}

// maxDepth is how many files may be made of one another in a row.
const maxDepth = 8

// composition is what a file holds that the text makes of files which were found. Of several that
// it may be made of, it has the text of each.
func (fs *FS) composition(p string) (word.Stream, bool) {
	if fs.At.Contents == nil || len(fs.transfers) == 0 || p == "" || fs.hops >= maxDepth {
		return word.Stream{}, false
	}
	fs.hops++
	defer fs.ascend()
	var all word.Stream
	upwards(p, func(to, below string) bool {
		for _, t := range fs.transfers[to] {
			for _, s := range fs.contributions(t, to, below) {
				all = all.Either(s)
			}
		}
		return fs.Spend(1)
	})
	return all, all.Present
}

// Descend counts one more file on the way to what a file is made of; it is false where there are too many. ascend takes it back.
func (fs *FS) Descend() (ascend func(), ok bool) {
	if fs.hops >= maxDepth {
		return func() {}, false
	}
	fs.hops++
	return fs.ascend, true
}

func (fs *FS) ascend() { fs.hops-- }

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

// contributions is what a transfer puts into the file below its path. What an edit in place puts
// there is the text's own.
func (fs *FS) contributions(t transfer, to, below string) []word.Stream {
	if !t.reaches(below) || t.kind == CompiledFrom {
		return nil
	}
	if t.kind == Written && slices.Contains(t.from, to) {
		return []word.Stream{fs.opaque(nil)}
	}
	if t.kind != Copied {
		return []word.Stream{fs.opaque(t.from)}
	}
	var out []word.Stream
	for _, from := range t.from {
		source := sourceOf(from, below)
		if s, ok := fs.Program(fs.At.Path(source, ""), source); ok {
			out = append(out, s)
		}
	}
	return out
}

// opaque is the unknown content that a program makes of files. It is settled if all of
// them are.
func (fs *FS) opaque(from []string) word.Stream {
	s := word.Stream{Present: true, OnDisk: true, Settled: len(from) > 0}
	for _, file := range from {
		c, ok := (*fs.At.Contents)[file]
		s.Settled = s.Settled && ok && !c.Recent
	}
	return s
}

// Rewrite notes that a file gets a content which is not followed, and of what.
func (fs *FS) Rewrite(p, from string) { fs.Transfer(p, SourcesOf(from), Written) }

// SourcesOf is the list of one file, empty without one.
func SourcesOf(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}

// Originals are the files that a path is a copy of or a link to, in one step.
func (fs *FS) Originals(p string) []string {
	from := fs.step(p, true)
	for _, other := range fs.Others(p, true) {
		if path.Base(other) != path.Base(p) { // else it is read by that name already
			from = append(from, other)
		}
	}
	upwards(p, func(to, below string) bool {
		for _, t := range fs.transfers[to] {
			if below == "" && t.kind == Written && len(t.from) == 1 {
				from = append(from, t.from[0])
			}
			for i := 0; i < len(t.from) && t.kind == Copied; i++ {
				from = append(from, sourceOf(t.from[i], below))
			}
		}
		return fs.Spend(1)
	})
	return from
}
