package python

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// listed is what a listing of folders gives. The names in a folder of the project tell
// nothing, so that only those in a folder that is known from its root are followed.
func (w *walk) listed(d library.Behaviour, folders object.Objects) object.Objects {
	list := object.Object{Shape: object.IsList, Open: true}
	var names object.Objects
	for _, f := range folders {
		if !w.outsideProject(f) {
			continue
		}
		below := object.JoinPath(f, object.Object{Shape: object.IsString, Text: object.AnyName})
		switch d.Kind {
		case library.DoesListing:
			names = names.With(object.TextOf(object.AnyName))
		case library.DoesEntries:
			names = names.With(object.Objects{below})
		case library.DoesTree:
			inside := object.Objects{{Shape: object.IsList, Items: []object.Objects{object.TextOf(object.AnyName)}, Open: true}}
			names = names.With(object.Objects{{Shape: object.IsList, Items: []object.Objects{{f}, inside, inside}}})
		}
	}
	if names == nil {
		return object.Hidden("value", folders.Tainted())
	}
	list.Items = []object.Objects{names}
	return object.Objects{list}
}

// listedBelow is a list of paths.
func (w *walk) listedBelow(paths object.Objects) object.Objects {
	var known object.Objects
	for _, p := range paths {
		if w.outsideProject(p) {
			known = known.With(object.Objects{p})
		}
	}
	if known == nil {
		return object.Hidden("path", paths.Tainted())
	}
	return object.Objects{{Shape: object.IsList, Items: []object.Objects{known}, Open: true}}
}

// outsideProject says that a path lies where no program of a project does its work.
func (w *walk) outsideProject(v object.Object) bool {
	if !object.Rooted(v) {
		return false
	}
	work := w.at.Path(w.at.Workdir, "")
	rest, within := strings.CutPrefix(w.path(v.Text), work)
	return w.at.Workdir == "" || !within || rest != "" && rest[0] != '/'
}

// looks notes files of which a call sees what a listing shows; those that a listing
// told of are seen already.
func (w *walk) looks(vs object.Objects) {
	var named object.Objects
	for _, v := range vs {
		if !strings.Contains(v.Text, object.AnyName) {
			named = append(named, v)
		}
	}
	w.reads(named)
}

// unpacks notes a folder into which anything may be written.
func (w *walk) unpacks(folders object.Objects) {
	w.writes(folders)
	for _, f := range folders {
		if object.Rooted(f) {
			w.writes(object.Objects{object.JoinPath(f, object.Object{Shape: object.IsString, Text: object.AnyName})})
		}
	}
	if len(folders) == 0 {
		folders = object.TextOf(".")
	}
	for _, f := range folders {
		if w.noting && (f.Shape == object.IsString || f.Shape == object.IsPath) {
			w.notes.unpacked.Add(w.path(f.Text), len(w.notes.pieces))
		}
	}
}

// resolve is what a dotted name such as "os:system" or "os.path.join" stands for.
func (w *walk) resolve(names object.Objects) object.Objects {
	var out object.Objects
	for _, n := range names {
		if n.Shape != object.IsString || !object.Literal(n.Text) {
			w.feature(value.FeatureDynamicImport)
			w.hide()
			out = out.With(object.Hidden("value", value.Taint{}))
			continue
		}
		name := strings.ReplaceAll(n.Text, ":", ".")
		w.imported(name)
		out = out.With(object.SymbolOf(name))
	}
	return out
}

// callsNamed is a call that calls what names stand for. The tests of a project are none of Python's own functions.
func (w *walk) callsNamed(d library.Behaviour, c *object.Call) {
	names, _ := c.Arg(d.Skip, d.Name)
	for _, n := range names {
		given := object.Objects{n}
		if n.Shape == object.IsList && !n.Open {
			given = slices.Concat(n.Items...)
		}
		for _, named := range w.resolve(given) {
			if top, _, _ := strings.Cut(named.Text, "."); library.Standard[top] && top != "test" {
				w.dynamic()
			}
		}
	}
}

// makeDict is dict(…).
func (w *walk) makeDict(c *object.Call) object.Objects {
	if len(c.Args) > 0 && object.IsEnviron(c.Args[0]) {
		return object.SymbolOf("os.environ")
	}
	dict := object.Object{Shape: object.IsDict, Open: c.Open}
	for _, v := range c.First() {
		switch {
		case v.Shape == object.IsDict:
			dict.Items, dict.Open = append(dict.Items, v.Items...), dict.Open || v.Open
		case v.Shape == object.IsList && !v.Open:
			for _, pair := range v.Items {
				dict.Items = append(dict.Items, object.ItemsAt(pair, 0, "key"), object.ItemsAt(pair, 1, "value"))
			}
		default:
			w.escapeSome(object.Objects{v})
			dict.Open, dict.Taint = true, dict.Taint.With(v.AllTaint())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Keywords)) {
		dict.Items = append(dict.Items, object.TextOf(name), c.Keywords[name])
	}
	return w.bounded(object.Objects{dict})
}

// findModules notes a folder that modules are found in from now on.
func (w *walk) findModules(d library.Behaviour, c *object.Call) object.Objects {
	vs, _ := c.Arg(d.Skip, d.Name)
	w.moduleFolders(vs)
	return nil
}

func (w *walk) moduleFolders(vs object.Objects) {
	for _, v := range vs {
		if (v.Shape == object.IsString || v.Shape == object.IsPath) && object.Whole(v.Text) {
			w.setVariable("PYTHONPATH", object.Objects{v})
			w.note(&w.notes.folders, v.Text)
		}
	}
}

// opensDatabase notes the file of a database that a URL names, as sqlite:///folder/file does.
func (w *walk) opensDatabase(urls object.Objects) {
	for _, u := range urls {
		scheme, file, found := strings.Cut(u.Text, ":///")
		if u.Shape == object.IsString && found && (strings.HasPrefix(scheme, "sqlite") || strings.HasPrefix(scheme, "duckdb")) {
			w.reads(object.TextOf(file))
			w.writes(object.TextOf(file))
		}
	}
}
