package python

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// path is a text as a path: cleaned, absolute where that is known, "~" for the home folder.
func (w *walk) path(text string) string {
	p := object.Shown(strings.ReplaceAll(text, object.AnyName, "*"))
	for _, own := range []string{"/proc/self/cwd", "/proc/thread-self/cwd"} {
		if rest, ok := strings.CutPrefix(p, own); ok && (rest == "" || rest[0] == '/') {
			p = "." + rest
		}
	}
	if p == "$HOME" || strings.HasPrefix(p, "$HOME/") {
		p = "~" + strings.TrimPrefix(p, "$HOME")
	}
	return w.followed(w.at.Path(p, w.at.Workdir))
}

// followed is a path with the links followed that the program itself has made.
func (w *walk) followed(p string) string {
	for end := len(p); end > 0; end = strings.LastIndexByte(p[:end], '/') {
		if target, ok := w.links[p[:end]]; ok {
			return w.at.Path(target+p[end:], path.Dir(p[:end]))
		}
	}
	return p
}

// linked notes a link that the program makes.
func (w *walk) linked(target, link object.Objects) {
	to, ok := target.Only()
	name, plain := link.Only()
	if ok && plain && len(w.links) < object.MaxValues {
		w.links[w.at.Path(name, w.at.Workdir)] = to
	}
}

// paths are the paths that values name, as far as they are known: one that
// starts with something unknown is none.
func (w *walk) paths(vs object.Objects, itself bool) []string {
	var out []string
	for _, v := range vs {
		switch {
		case v.Shape == object.IsList:
			for _, item := range v.Items {
				out = append(out, w.paths(item, itself)...)
			}
		case v.Shape != object.IsString && v.Shape != object.IsPath && v.Shape != object.IsFile, v.Text == "",
			strings.HasPrefix(v.Text, object.HoleStart),
			len(v.Text) > maxText:
		case len(v.Text) > 5 && strings.EqualFold(v.Text[:5], "file:"):
			out = append(out, w.names(object.FileURL(v.Text), itself)...)
		default:
			out = append(out, w.names(v.Text, itself)...)
		}
	}
	return out
}

// names are a text as a path, and the other names of that by links that stand where the program
// runs. With itself a link at the end is followed.
func (w *walk) names(text string, itself bool) []string {
	p := w.path(text)
	all := []string{p}
	for _, spelt := range []string{p, w.opened(text)} {
		w.at.Ground.Name(spelt)
		for _, name := range w.at.Ground.Others(spelt, itself) {
			all = append(all, w.at.Path(name, ""))
		}
	}
	return all
}

// opened is a path as the system opens it: what "sub/.." is only the file system knows.
func (w *walk) opened(text string) string {
	if !path.IsAbs(text) && !strings.HasPrefix(text, "~") && w.at.Workdir != "" {
		text = w.at.Workdir + "/" + text
	}
	return value.Tidy(object.Shown(strings.ReplaceAll(text, object.AnyName, "*")))
}

func (w *walk) reads(vs object.Objects)  { w.note(&w.notes.reads, w.notable(vs, true)...) }
func (w *walk) writes(vs object.Objects) { w.note(&w.notes.writes, w.notable(vs, true)...) }
func (w *walk) loses(vs object.Objects)  { w.losesOf(vs, true) }

// losesOf notes files whose content is gone; of those that a listing tells it is not known
// which are meant.
func (w *walk) losesOf(vs object.Objects, itself bool) {
	gone := w.notable(vs, itself)
	w.note(&w.notes.loses, slices.DeleteFunc(gone, func(p string) bool { return strings.HasSuffix(p, "/*") })...)
}

// removes notes files that are deleted or moved. A link is taken for itself then.
func (w *walk) removes(vs object.Objects) {
	w.note(&w.notes.writes, w.notable(vs, false)...)
	w.losesOf(vs, false)
}

// changes notes files that a call writes, or after which their content is gone.
func (w *walk) changes(name string, vs object.Objects) {
	w.fill(vs, nil, value.Taint{})
	switch follows, gone := library.Losing[name]; {
	case !gone:
		w.writes(vs)
	case follows:
		w.writes(vs)
		w.loses(vs)
	default:
		w.removes(vs)
	}
}

// notable are the paths to note, on the last walk only.
func (w *walk) notable(vs object.Objects, itself bool) []string {
	if !w.noting {
		return nil
	}
	return w.paths(vs, itself)
}

func (w *walk) doFiles(d library.Behaviour, c *object.Call) object.Objects {
	for _, vs := range c.Args {
		w.escapeSome(vs)
	}
	if d.Also != nil {
		w.doFiles(*d.Also, c)
	}
	if yes, sure := object.Truth(c.Keywords[d.When]); d.When != "" && sure && !yes {
		return nil
	}
	if d.Kind == library.DoesOpenFile {
		return w.open(c)
	}
	if d.Kind == library.DoesCopies || d.Kind == library.DoesMoves {
		w.copies(d, c)
		return object.Hidden("value", c.Tainted())
	}
	vs, given := c.Arg(d.Skip, d.Name)
	if !given && d.Usual != "" {
		vs = object.TextOf(d.Usual)
	}
	return w.handles(d, c, vs)
}

// handles notes what a call does with the files that it is given.
func (w *walk) handles(d library.Behaviour, c *object.Call, vs object.Objects) object.Objects {
	switch d.Kind {
	case library.DoesReads:
		w.reads(vs)
	case library.DoesLooks:
		w.looks(vs)
	case library.DoesReadsWrites:
		w.reads(vs)
		w.writes(vs)
	case library.DoesUnpacks:
		w.unpacks(vs)
	case library.DoesWrites:
		w.changes(c.Name, vs)
	case library.DoesListing, library.DoesEntries, library.DoesTree:
		w.reads(vs)
		return w.listed(d, vs)
	case library.DoesMatching:
		w.reads(object.Searched(vs))
		return w.listedBelow(vs)
	case library.DoesConfigure:
		w.configure(c.First(), 0)
	case library.DoesDatabase:
		w.opensDatabase(vs)
	case library.DoesSendsFile:
		w.reads(vs)
		w.feature(value.FeatureSendsFiles)
	}
	return object.Objects{{Shape: object.IsInstance, Text: c.Name, Taint: c.Tainted()}}
}

func (w *walk) copies(d library.Behaviour, c *object.Call) {
	from, _ := c.Arg(0, "src")
	to, _ := c.Arg(1, "dst")
	if d.Kind == library.DoesMoves {
		w.removes(from)
	} else {
		w.reads(from)
	}
	w.writes(to)
	w.fill(to, nil, value.Taint{})
	if slices.ContainsFunc(from, w.outsideProject) {
		below := object.JoinAll([]object.Objects{to, object.BaseNames(from)})
		for _, p := range slices.Concat(w.notable(to, true), w.notable(below, true)) {
			w.notes.foreign[p] = true
		}
	}
	if c.Name == "os.symlink" {
		w.linked(from, to)
	}
}

// open notes a file that is opened, to read or to write as its mode says.
func (w *walk) open(c *object.Call) object.Objects {
	file, _ := c.Arg(0, "file")
	if folder, below := c.Keywords["dir_fd"]; below {
		file = object.JoinAll([]object.Objects{object.FoldersOf(folder), file})
	}
	modes, given := c.Arg(1, "mode")
	if !given {
		modes = object.TextOf("r")
	}
	reading := false
	for _, m := range modes {
		if c.Name == "os.open" && object.OnlyReads(m) {
			m = object.Object{Shape: object.IsString, Text: "r"}
		}
		known := m.Shape == object.IsString && object.Literal(m.Text)
		if !known || strings.ContainsAny(m.Text, "r+") || m.Text == "" {
			w.reads(file)
			reading = true
		}
		if !known || strings.ContainsAny(m.Text, "wax+") {
			w.writes(file)
			w.begin(file, strings.Contains(m.Text, "a"))
			if known && strings.Contains(m.Text, "w") {
				w.loses(file)
			}
		}
	}
	var out object.Objects
	for _, f := range file {
		if f.Shape == object.IsString || f.Shape == object.IsPath {
			out = out.With(object.Objects{{Shape: object.IsFile, Text: f.Text}})
			continue
		}
		f.Taint.Read = f.Taint.Read || reading
		out = out.With(object.Hidden("file", f.Taint))
	}
	return out
}

// begin notes a file that the program is about to fill, or to add to.
func (w *walk) begin(files object.Objects, adds bool) {
	if adds {
		w.fill(files, nil, value.Taint{})
		return
	}
	w.fill(files, object.TextOf(""), value.Taint{})
}

func (w *walk) fileMethod(b object.Object, name string, c *object.Call) object.Objects {
	switch name {
	case "write":
		w.fill(object.Objects{b}, c.First(), value.Taint{})
		w.escape(c.First())
	case "writelines":
		w.fill(object.Objects{b}, nil, c.Tainted())
		w.escape(c.First())
	case "__enter__":
		return object.Objects{b}
	case "extractall":
		to, _ := c.Arg(0, "path")
		w.unpacks(to)
	case "extract":
		to, _ := c.Arg(1, "path")
		w.unpacks(to)
	case "add": // to an archive, which then holds the file
		w.reads(c.First())
	case "read":
		return object.ContentOf(b)
	case "readline", "readlines":
		return object.Hidden("text", value.Taint{Read: true}.With(b.Taint))
	case "close", "flush", "fileno", "tell", "seek", "readable", "namelist", "getnames", "getmembers", "infolist", "isatty", "__exit__":
	default:
		w.escapeAll(c)
		w.fill(object.Objects{b}, nil, c.Tainted())
	}
	return object.Hidden("text", b.Taint)
}

func (w *walk) doPaths(d library.Behaviour, c *object.Call) object.Objects {
	for _, vs := range c.Args {
		w.escapeSome(vs)
	}
	switch d.Kind {
	case library.DoesWorkdir:
		return w.place(w.at.Workdir)
	case library.DoesHome:
		return object.Objects{{Shape: object.IsPath, Text: "~"}}
	case library.DoesChdir:
		w.chdir(c.First())
		return nil
	case library.DoesMakePath, library.DoesJoin:
		joined := object.JoinAll(c.Args)
		if d.Kind == library.DoesMakePath {
			for i := range joined {
				joined[i].Shape = object.IsPath
			}
		}
		return joined
	}
	return c.First().Strs()
}

func (w *walk) place(folder string) object.Objects {
	if folder == "" {
		return object.TextOf(".")
	}
	return object.TextOf(folder)
}

// chdir follows a change of the working folder.
func (w *walk) chdir(vs object.Objects) {
	w.at.Workdir = w.folder(vs)
	w.at.Astray = w.at.Workdir == ""
}

// folder is the one folder that values name; empty if that is not known.
func (w *walk) folder(vs object.Objects) string {
	text, ok := vs.Only()
	if !ok {
		return ""
	}
	p := w.path(text)
	if strings.HasPrefix(p, "~") && w.at.Home != "" {
		p = w.at.Home + p[1:]
	}
	if !path.IsAbs(p) {
		return ""
	}
	if strings.Contains(text, "..") && !strings.HasPrefix(text, "~") { // what "sub/.." is only the file system knows
		if !path.IsAbs(text) {
			text = w.at.Workdir + "/" + text
		}
		return value.Tidy(text)
	}
	return p
}

// fillOpen notes files that a call was given open: it may write to them what is not followed.
func (w *walk) fillOpen(c *object.Call) {
	if c.Name == "print" {
		w.fill(c.Keywords["file"], nil, value.Taint{})
		return
	}
	switch c.Name[strings.LastIndexByte(c.Name, '.')+1:] {
	case "open", "load", "reader", "DictReader":
		return
	}
	for _, vs := range c.All() {
		for _, v := range vs {
			if v.Shape == object.IsFile {
				w.fill(object.Objects{v}, nil, c.Tainted())
			}
		}
	}
}
