package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// originals are the files that a path is a copy of or a link to, in one step.
func (fs *overlay) originals(p string) []string {
	from := fs.stepThrough(p, true)
	for _, other := range fs.others(p, true) {
		if path.Base(other) != path.Base(p) { // else it is read by that name already
			from = append(from, other)
		}
	}
	upwards(p, func(to, below string) bool {
		for _, t := range fs.transfers[to] {
			if below == "" && t.kind == written && len(t.from) == 1 {
				from = append(from, t.from[0])
			}
			for i := 0; i < len(t.from) && t.kind == copied; i++ {
				from = append(from, sourceOf(t.from[i], below))
			}
		}
		return fs.spend(1)
	})
	return from
}

// transfer is content that goes from files to a path.
type transfer struct {
	from []string
	kind transferKind
}

type transferKind int

const (
	// written: the path itself gets the content.
	written transferKind = iota
	// copied: files below the path get that of the files below from.
	copied
	// unpackedInto: files below the path are made of from.
	unpackedInto
	// compiledFrom: the path itself is machine code, made of from.
	compiledFrom
)

// transferTo notes a transfer. One from no file counts only where files were found.
func (fs *overlay) transferTo(to string, from []string, kind transferKind) {
	if to == "" || len(from) == 0 && fs.at.Contents == nil {
		return
	}
	if fs.transfers == nil {
		fs.transfers = map[string][]transfer{}
	}
	fs.transfers[to] = append(fs.transfers[to], transfer{from, kind})
}

// runsSources adds the files whose content the text puts into those that it runs, and notes that one of them is from the network.
func (fs *overlay) runsSources() {
	if len(fs.transfers)+len(fs.contents) == 0 {
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(fs.files); i++ {
		if seen[fs.files[i]] {
			continue
		}
		seen[fs.files[i]] = true
		at := fs.at.Path(fs.files[i], "")
		fs.ran(value.Taint{Fetched: fs.contents[at].Fetched})
		if slices.Contains(fs.built, at) {
			fs.hide()
		}
		upwards(at, func(to, below string) bool {
			fs.filled(to, below)
			return fs.spend(1)
		})
	}
}

// reaches says that a transfer may fill what lies below its path.
func (t transfer) reaches(below string) bool {
	return below == "" || t.kind == copied || t.kind == unpackedInto
}

// filled adds what the file below a path, or the path itself, is made of.
func (fs *overlay) filled(to, below string) {
	for _, t := range fs.transfers[to] {
		if !t.reaches(below) {
			continue
		}
		for _, from := range t.from {
			if t.kind == copied {
				from = sourceOf(from, below)
			}
			if !fs.spend(1) || len(fs.files) > maxFields {
				fs.complete = false
				return
			}
			fs.files = append(fs.files, from)
		}
	}
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

// maxMade is how many files may be made of one another in a row.
const maxMade = 8

// madeOf is what a file holds that the text makes of files which were found. Of several that
// it may be made of, it has the text of each.
func (fs *overlay) madeOf(p string) (stream, bool) {
	if fs.at.Contents == nil || len(fs.transfers) == 0 || p == "" || fs.madeBy >= maxMade {
		return stream{}, false
	}
	fs.madeBy++
	defer fs.ascend()
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

// descend counts one more file on the way to what a file is made of; it is false where there are too many. ascend takes it back.
func (fs *overlay) descend() (ascend func(), ok bool) {
	if fs.madeBy >= maxMade {
		return func() {}, false
	}
	fs.madeBy++
	return fs.ascend, true
}

func (fs *overlay) ascend() { fs.madeBy-- }

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

// madeUnknown notes that a file gets a content which is not followed, and of what.
func (fs *overlay) madeUnknown(p, from string) { fs.transferTo(p, sourcesOf(from), written) }

func sourcesOf(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}
