package python

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// path is a text as a path: cleaned, absolute where that is known, "~" for the home folder.
func (w *walk) path(text string) string {
	p := shown(strings.ReplaceAll(text, anyName, "*"))
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
func (w *walk) linked(target, link objects) {
	to, ok := target.only()
	name, plain := link.only()
	if ok && plain && len(w.links) < maxValues {
		w.links[w.at.Path(name, w.at.Workdir)] = to
	}
}

// paths are the paths that values name, as far as they are known: one that
// starts with something unknown is none.
func (w *walk) paths(vs objects, itself bool) []string {
	var out []string
	for _, v := range vs {
		switch {
		case v.shape == isList:
			for _, item := range v.items {
				out = append(out, w.paths(item, itself)...)
			}
		case v.shape != isString && v.shape != isPath && v.shape != isFile, v.text == "", strings.HasPrefix(v.text, holeStart),
			len(v.text) > maxText:
		case len(v.text) > 5 && strings.EqualFold(v.text[:5], "file:"):
			out = append(out, w.names(fileURL(v.text), itself)...)
		default:
			out = append(out, w.names(v.text, itself)...)
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
	return value.Tidy(shown(strings.ReplaceAll(text, anyName, "*")))
}

func (w *walk) reads(vs objects)  { w.note(&w.notes.reads, w.notable(vs, true)...) }
func (w *walk) writes(vs objects) { w.note(&w.notes.writes, w.notable(vs, true)...) }
func (w *walk) loses(vs objects)  { w.losesOf(vs, true) }

// losesOf notes files whose content is gone; of those that a listing tells it is not known
// which are meant.
func (w *walk) losesOf(vs objects, itself bool) {
	gone := w.notable(vs, itself)
	w.note(&w.notes.loses, slices.DeleteFunc(gone, func(p string) bool { return strings.HasSuffix(p, "/*") })...)
}

// removes notes files that are deleted or moved. A link is taken for itself then.
func (w *walk) removes(vs objects) {
	w.note(&w.notes.writes, w.notable(vs, false)...)
	w.losesOf(vs, false)
}

// losing are the calls after which a file's content is gone, with whether they follow a link to it.
var losing = map[string]bool{
	"os.remove": false, "os.unlink": false, "os.rmdir": false, "os.removedirs": false, "os.truncate": true, "shutil.rmtree": false,
	"send2trash.send2trash": false,
	"pathlib.Path.unlink":   false, "pathlib.Path.rmdir": false, "pathlib.Path.rename": false, "pathlib.Path.replace": false,
	"pathlib.Path.write_text": true, "pathlib.Path.write_bytes": true,
}

// changes notes files that a call writes, or after which their content is gone.
func (w *walk) changes(name string, vs objects) {
	switch follows, gone := losing[name]; {
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
func (w *walk) notable(vs objects, itself bool) []string {
	if !w.noting {
		return nil
	}
	return w.paths(vs, itself)
}

func (w *walk) doFiles(d behaviour, c *call) objects {
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	if d.also != nil {
		w.doFiles(*d.also, c)
	}
	if yes, sure := truth(c.keywords[d.when]); d.when != "" && sure && !yes {
		return nil
	}
	if d.kind == doesOpenFile {
		return w.open(c)
	}
	if d.kind == doesCopies || d.kind == doesMoves {
		w.copies(d, c)
		return hidden("value", c.tainted())
	}
	vs, given := c.arg(d.skip, d.name)
	if !given && d.usual != "" {
		vs = textOf(d.usual)
	}
	return w.handles(d, c, vs)
}

// handles notes what a call does with the files that it is given.
func (w *walk) handles(d behaviour, c *call, vs objects) objects {
	switch d.kind {
	case doesReads:
		w.reads(vs)
	case doesLooks:
		w.looks(vs)
	case doesReadsWrites:
		w.reads(vs)
		w.writes(vs)
	case doesUnpacks:
		w.unpacks(vs)
	case doesWrites:
		w.changes(c.name, vs)
	case doesListing, doesEntries, doesTree:
		w.reads(vs)
		return w.listed(d, vs)
	case doesMatching:
		w.reads(searched(vs))
		return w.listedBelow(vs)
	case doesDatabase:
		w.opensDatabase(vs)
	case doesSendsFile:
		w.reads(vs)
		w.feature(value.FeatureSendsFiles)
	}
	return objects{{shape: isInstance, text: c.name, Taint: c.tainted()}}
}

func (w *walk) copies(d behaviour, c *call) {
	from, _ := c.arg(0, "src")
	to, _ := c.arg(1, "dst")
	if d.kind == doesMoves {
		w.removes(from)
	} else {
		w.reads(from)
	}
	w.writes(to)
	w.fill(to, nil, value.Taint{})
	if c.name == "os.symlink" {
		w.linked(from, to)
	}
}

// open notes a file that is opened, to read or to write as its mode says.
func (w *walk) open(c *call) objects {
	file, _ := c.arg(0, "file")
	if folder, below := c.keywords["dir_fd"]; below {
		file = joinAll([]objects{foldersOf(folder), file})
	}
	modes, given := c.arg(1, "mode")
	if !given {
		modes = textOf("r")
	}
	for _, m := range modes {
		if c.name == "os.open" && onlyReads(m) {
			m = object{shape: isString, text: "r"}
		}
		known := m.shape == isString && literal(m.text)
		if !known || strings.ContainsAny(m.text, "r+") || m.text == "" {
			w.reads(file)
		}
		if !known || strings.ContainsAny(m.text, "wax+") {
			w.writes(file)
			w.begin(file, strings.Contains(m.text, "a"))
			if known && strings.Contains(m.text, "w") {
				w.loses(file)
			}
		}
	}
	var out objects
	for _, f := range file {
		if f.shape == isString || f.shape == isPath {
			out = out.with(objects{{shape: isFile, text: f.text}})
			continue
		}
		out = out.with(hidden("file", f.Taint))
	}
	return out
}

// foldersOf are the paths of folders that are open.
func foldersOf(open objects) objects {
	var out objects
	for _, f := range open {
		if f.shape == isFile {
			f.shape = isString
		}
		out = out.with(objects{f})
	}
	return out
}

// onlyReads says whether the flags of os.open let a file be read and nothing else.
func onlyReads(flags object) bool {
	const writing = 0o3 | 0o100 | 0o1000 // the access mode, O_CREAT, O_TRUNC
	return flags.shape == isSymbol && flags.text == "os.O_RDONLY" || flags.shape == isInt && flags.number&writing == 0
}

// begin notes a file that the program is about to fill, or to add to.
func (w *walk) begin(files objects, adds bool) {
	if adds {
		w.fill(files, nil, value.Taint{})
		return
	}
	w.fill(files, textOf(""), value.Taint{})
}

func (w *walk) fileMethod(b object, name string, c *call) objects {
	switch name {
	case "write":
		w.fill(objects{b}, c.first(), value.Taint{})
		w.escape(c.first())
	case "writelines":
		w.fill(objects{b}, nil, c.tainted())
		w.escape(c.first())
	case "__enter__":
		return objects{b}
	case "extractall":
		to, _ := c.arg(0, "path")
		w.unpacks(to)
	case "extract":
		to, _ := c.arg(1, "path")
		w.unpacks(to)
	case "read":
		return contentOf(b)
	case "readline", "readlines":
		return hidden("text", value.Taint{Read: true}.With(b.Taint))
	default:
		c.escapeAll(w)
	}
	return hidden("text", b.Taint)
}

// contentOf is the text of a file.
func contentOf(file object) objects {
	text := hidden("text", value.Taint{Read: true}.With(file.Taint))
	if whole(file.text) {
		text[0].file = file.text
	}
	return text
}

func (w *walk) doPaths(d behaviour, c *call) objects {
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	switch d.kind {
	case doesWorkdir:
		return w.place(w.at.Workdir)
	case doesHome:
		return objects{{shape: isPath, text: "~"}}
	case doesChdir:
		w.chdir(c.first())
		return nil
	case doesMakePath, doesJoin:
		joined := joinAll(c.args)
		if d.kind == doesMakePath {
			for i := range joined {
				joined[i].shape = isPath
			}
		}
		return joined
	}
	return c.first().strs()
}

func (w *walk) place(folder string) objects {
	if folder == "" {
		return textOf(".")
	}
	return textOf(folder)
}

// chdir follows a change of the working folder.
func (w *walk) chdir(vs objects) {
	w.at.Workdir = w.folder(vs)
	w.at.Astray = w.at.Workdir == ""
}

// folder is the one folder that values name; empty if that is not known.
func (w *walk) folder(vs objects) string {
	text, ok := vs.only()
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

func joinAll(args []objects) objects {
	if len(args) == 0 {
		return textOf(".")
	}
	all := args[0].strs()
	for _, more := range args[1:] {
		all = eachPair(all, more, func(a, b object) object {
			p := joinPath(a, b)
			p.shape = isString
			return p
		})
	}
	return all
}

// joinPath is a/b, or b if that is absolute.
func joinPath(a, b object) object {
	left, right := a.str(), b.str()
	switch {
	case strings.HasPrefix(right, "/") || left == "":
		left = right
	case strings.HasSuffix(left, "/"):
		left += right
	default:
		left += "/" + right
	}
	if len(left) > value.MaxValue {
		left = hole("path")
	}
	return object{shape: isPath, text: left}
}
