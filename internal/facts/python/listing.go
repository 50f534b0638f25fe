package python

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// anyName stands in a text for a name that only a listing of its folder tells.
const anyName = holeStart + "*" + holeEnd

// listed is what a listing of folders gives. The names in a folder of the project tell
// nothing, so that only those in a folder that is known from its root are followed.
func (w *walk) listed(d behaviour, folders objects) objects {
	list := object{shape: isList, open: true}
	var names objects
	for _, f := range folders {
		if !w.outsideProject(f) {
			continue
		}
		below := joinPath(f, object{shape: isString, text: anyName})
		switch d.kind {
		case doesListing:
			names = names.with(textOf(anyName))
		case doesEntries:
			names = names.with(objects{below})
		case doesTree:
			inside := objects{{shape: isList, items: []objects{textOf(anyName)}, open: true}}
			names = names.with(objects{{shape: isList, items: []objects{{f}, inside, inside}}})
		}
	}
	if names == nil {
		return hidden("value", folders.tainted())
	}
	list.items = []objects{names}
	return objects{list}
}

// searched are the folders that have to be listed to find what matches patterns.
func searched(patterns objects) objects {
	var folders objects
	for _, p := range patterns {
		if i := strings.IndexAny(p.text, "*?["); i > 0 && (p.shape == isString || p.shape == isPath) {
			p.text = p.text[:strings.LastIndexByte(p.text[:i], '/')+1]
		}
		folders = append(folders, p)
	}
	return folders
}

// listedBelow is a list of paths.
func (w *walk) listedBelow(paths objects) objects {
	var known objects
	for _, p := range paths {
		if w.outsideProject(p) {
			known = known.with(objects{p})
		}
	}
	if known == nil {
		return hidden("path", paths.tainted())
	}
	return objects{{shape: isList, items: []objects{known}, open: true}}
}

func asPaths(lists objects) objects {
	for _, l := range lists {
		for _, item := range l.items {
			for i := range item {
				item[i].shape = isPath
			}
		}
	}
	return lists
}

// rooted says that a path begins at the root or in a home.
func rooted(v object) bool {
	return (v.shape == isString || v.shape == isPath) && (strings.HasPrefix(v.text, "/") || strings.HasPrefix(v.text, "~") ||
		strings.HasPrefix(v.text, variableHole+"HOME"+holeEnd))
}

// outsideProject says that a path lies where no program of a project does its work.
func (w *walk) outsideProject(v object) bool {
	if !rooted(v) {
		return false
	}
	work := w.at.Path(w.at.Workdir, "")
	rest, within := strings.CutPrefix(w.path(v.text), work)
	return w.at.Workdir == "" || !within || rest != "" && rest[0] != '/'
}

// looks notes files of which a call sees what a listing shows; those that a listing
// told of are seen already.
func (w *walk) looks(vs objects) {
	var named objects
	for _, v := range vs {
		if !strings.Contains(v.text, anyName) {
			named = append(named, v)
		}
	}
	w.reads(named)
}

// unpacks notes a folder into which anything may be written.
func (w *walk) unpacks(folders objects) {
	w.writes(folders)
	for _, f := range folders {
		if rooted(f) {
			w.writes(objects{joinPath(f, object{shape: isString, text: anyName})})
		}
	}
}

// fileURL is the path of a file: URL.
func fileURL(text string) string {
	rest := text[len("file:"):]
	if below, ok := strings.CutPrefix(rest, "//"); ok {
		_, rest, _ = strings.Cut(below, "/")
		rest = "/" + rest
	}
	rest, _, _ = strings.Cut(rest, "?")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return rest
}

// resolve is what a dotted name such as "os:system" or "os.path.join" stands for.
func (w *walk) resolve(c *call) objects {
	var out objects
	for _, n := range c.first() {
		if n.shape != isString || !literal(n.text) {
			w.feature(value.FeatureDynamicImport)
			w.hide()
			out = out.with(hidden("value", value.Taint{}))
			continue
		}
		name := strings.ReplaceAll(n.text, ":", ".")
		w.imported(name)
		out = out.with(symbolOf(name))
	}
	return out
}

// makeDict is dict(…).
func (w *walk) makeDict(c *call) objects {
	if len(c.args) > 0 && isEnviron(c.args[0]) {
		return symbolOf("os.environ")
	}
	dict := object{shape: isDict, open: c.open}
	for _, v := range c.first() {
		switch {
		case v.shape == isDict:
			dict.items, dict.open = append(dict.items, v.items...), dict.open || v.open
		case v.shape == isList && !v.open:
			for _, pair := range v.items {
				dict.items = append(dict.items, itemsAt(pair, 0, "key"), itemsAt(pair, 1, "value"))
			}
		default:
			w.escapeSome(objects{v})
			dict.open, dict.Taint = true, dict.Taint.With(v.allTaint())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.keywords)) {
		dict.items = append(dict.items, textOf(name), c.keywords[name])
	}
	return w.bounded(objects{dict})
}

// findModules notes a folder that modules are found in from now on.
func (w *walk) findModules(d behaviour, c *call) objects {
	vs, _ := c.arg(d.skip, d.name)
	w.moduleFolders(vs)
	return nil
}

func (w *walk) moduleFolders(vs objects) {
	for _, v := range vs {
		if (v.shape == isString || v.shape == isPath) && whole(v.text) {
			w.setVariable("PYTHONPATH", objects{v})
			w.note(&w.notes.folders, v.text)
		}
	}
}

// opensDatabase notes the file of a database that a URL names, as sqlite:///folder/file does.
func (w *walk) opensDatabase(urls objects) {
	for _, u := range urls {
		scheme, file, found := strings.Cut(u.text, ":///")
		if u.shape == isString && found && (strings.HasPrefix(scheme, "sqlite") || strings.HasPrefix(scheme, "duckdb")) {
			w.reads(textOf(file))
			w.writes(textOf(file))
		}
	}
}
