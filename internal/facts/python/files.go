package python

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// path is a text as a path: cleaned, absolute where that is known, "~" for the home folder.
func (w *pyWalk) path(text string) string {
	p := shown(text)
	if p == "$HOME" || strings.HasPrefix(p, "$HOME/") {
		p = "~" + strings.TrimPrefix(p, "$HOME")
	}
	return w.at.Path(p, w.at.Workdir)
}

// paths are the paths that values name, as far as they are known: one that
// starts with something unknown is none.
func (w *pyWalk) paths(vs pyValues) []string {
	var out []string
	for _, v := range vs {
		switch {
		case v.shape == pyList:
			for _, item := range v.items {
				out = append(out, w.paths(item)...)
			}
		case v.shape != pyString && v.shape != pyPath && v.shape != pyFile, v.text == "", strings.HasPrefix(v.text, holeStart), len(v.text) > maxPyText:
		default:
			out = append(out, w.path(v.text))
		}
	}
	return out
}

func (w *pyWalk) reads(vs pyValues)  { w.note(&w.notes.reads, w.notable(vs)...) }
func (w *pyWalk) writes(vs pyValues) { w.note(&w.notes.writes, w.notable(vs)...) }
func (w *pyWalk) loses(vs pyValues)  { w.note(&w.notes.loses, w.notable(vs)...) }

// losing are the calls after which a file's content is gone.
var losing = map[string]bool{
	"os.remove": true, "os.unlink": true, "os.rmdir": true, "os.removedirs": true, "os.truncate": true, "shutil.rmtree": true, "send2trash.send2trash": true,
	"pathlib.Path.unlink": true, "pathlib.Path.rmdir": true, "pathlib.Path.rename": true, "pathlib.Path.replace": true,
	"pathlib.Path.write_text": true, "pathlib.Path.write_bytes": true,
}

// notable are the paths to note, on the last walk only.
func (w *pyWalk) notable(vs pyValues) []string {
	if !w.noting {
		return nil
	}
	return w.paths(vs)
}

func (w *pyWalk) doFiles(d pyDeed, c *pyCall) pyValues {
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	switch d.kind {
	case pyOpenFile:
		return w.open(c)
	case pyReads:
		vs, _ := c.arg(0, d.name)
		w.reads(vs)
	case pyWrites:
		vs, _ := c.arg(0, d.name)
		w.writes(vs)
		if losing[c.name] {
			w.loses(vs)
		}
	case pyCopies, pyMoves:
		w.copies(d, c)
	}
	if strings.HasSuffix(c.name, "walk") {
		return pyHidden("value", value.Taint{})
	}
	return pyHidden("value", c.tainted())
}

func (w *pyWalk) copies(d pyDeed, c *pyCall) {
	from, _ := c.arg(0, "src")
	to, _ := c.arg(1, "dst")
	if d.kind == pyMoves {
		w.writes(from)
		w.loses(from)
	} else {
		w.reads(from)
	}
	w.writes(to)
	w.fill(to, nil, value.Taint{})
}

// open notes a file that is opened, to read or to write as its mode says.
func (w *pyWalk) open(c *pyCall) pyValues {
	file, _ := c.arg(0, "file")
	modes, given := c.arg(1, "mode")
	if !given {
		modes = pyTexts("r")
	}
	for _, m := range modes {
		known := m.shape == pyString && pyLiteral(m.text)
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
	var out pyValues
	for _, f := range file {
		if f.shape == pyString || f.shape == pyPath {
			out = out.with(pyValues{{shape: pyFile, text: f.text}})
			continue
		}
		out = out.with(pyHidden("file", f.Taint))
	}
	return out
}

// begin notes a file that the program is about to fill, or to add to.
func (w *pyWalk) begin(files pyValues, adds bool) {
	if adds {
		w.fill(files, nil, value.Taint{})
		return
	}
	w.fill(files, pyTexts(""), value.Taint{})
}

func (w *pyWalk) fileMethod(b pyValue, name string, c *pyCall) pyValues {
	switch name {
	case "write":
		w.fill(pyValues{b}, c.first(), value.Taint{})
		w.escape(c.first())
	case "writelines":
		w.fill(pyValues{b}, nil, c.tainted())
		w.escape(c.first())
	case "__enter__":
		return pyValues{b}
	case "extractall":
		to, _ := c.arg(0, "path")
		w.writes(to)
	case "extract":
		to, _ := c.arg(1, "path")
		w.writes(to)
	default:
		c.escapeAll(w)
	}
	return pyHidden("text", b.Taint)
}

func (w *pyWalk) doPaths(d pyDeed, c *pyCall) pyValues {
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	switch d.kind {
	case pyWorkdir:
		return w.place(w.at.Workdir)
	case pyHome:
		return pyValues{{shape: pyPath, text: "~"}}
	case pyChdir:
		w.chdir(c.first())
		return nil
	case pyMakePath, pyJoin:
		joined := joinAll(c.args)
		if d.kind == pyMakePath {
			for i := range joined {
				joined[i].shape = pyPath
			}
		}
		return joined
	}
	return c.first().strs()
}

func (w *pyWalk) place(folder string) pyValues {
	if folder == "" {
		return pyTexts(".")
	}
	return pyTexts(folder)
}

// chdir follows a change of the working folder.
func (w *pyWalk) chdir(vs pyValues) {
	w.at.Workdir = w.folder(vs)
	w.at.Astray = w.at.Workdir == ""
}

// folder is the one folder that values name; empty if that is not known.
func (w *pyWalk) folder(vs pyValues) string {
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

func joinAll(args []pyValues) pyValues {
	if len(args) == 0 {
		return pyTexts(".")
	}
	all := args[0].strs()
	for _, more := range args[1:] {
		all = pyEach(all, more, func(a, b pyValue) pyValue {
			p := joinPath(a, b)
			p.shape = pyString
			return p
		})
	}
	return all
}

// joinPath is a/b, or b if that is absolute.
func joinPath(a, b pyValue) pyValue {
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
	return pyValue{shape: pyPath, text: left}
}

// pathMember is an attribute of a pathlib.Path.
func pathMember(b pyValue, name string) pyValues {
	if !pyLiteral(b.text) {
		return pyHidden(name, b.Taint)
	}
	base := path.Base(b.text)
	switch name {
	case "parent":
		return pyValues{{shape: pyPath, text: path.Dir(b.text)}}
	case "name":
		return pyTexts(base)
	case "suffix":
		return pyTexts(path.Ext(base))
	case "stem":
		return pyTexts(strings.TrimSuffix(base, path.Ext(base)))
	}
	return pyHidden(name, b.Taint)
}

var (
	pathReads  = map[string]bool{"read_text": true, "read_bytes": true, "exists": true, "is_file": true, "is_dir": true, "stat": true, "lstat": true, "iterdir": true, "readlink": true}
	pathWrites = map[string]bool{"write_text": true, "write_bytes": true, "unlink": true, "rmdir": true, "mkdir": true, "touch": true, "chmod": true, "lchmod": true, "rename": true, "replace": true, "symlink_to": true, "hardlink_to": true, "link_to": true}
)

func (w *pyWalk) pathMethod(b pyValue, name string, c *pyCall) pyValues {
	w.note(&w.notes.calls, "pathlib.Path."+name)
	self := pyValues{b}
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	switch {
	case pathReads[name]:
		w.reads(self)
	case pathWrites[name]:
		w.writes(self)
		w.pathWrite(b, name, c)
		if losing["pathlib.Path."+name] {
			w.loses(self)
		}
		if name == "chmod" {
			w.harm(&pyCall{name: "pathlib.Path.chmod", args: c.args, keywords: c.keywords})
		}
	case name == "open":
		opened := &pyCall{name: "open", args: append([]pyValues{self}, c.args...), keywords: c.keywords, open: c.open}
		return w.open(opened)
	case name == "glob" || name == "rglob":
		pattern := joinAll(append([]pyValues{self}, c.args...))
		w.reads(pattern)
		return pyHidden("path", value.Taint{})
	case name == "joinpath":
		joined := joinAll(append([]pyValues{self}, c.args...))
		for i := range joined {
			joined[i].shape = pyPath
		}
		return joined
	case name == "expanduser" || name == "resolve" || name == "absolute" || name == "as_posix" || name == "__str__" || name == "__fspath__":
		return self
	}
	return pyHidden("value", b.Taint)
}

func (w *pyWalk) pathWrite(b pyValue, name string, c *pyCall) {
	switch name {
	case "write_text", "write_bytes":
		text, _ := c.arg(0, "data")
		w.fill(pyValues{b}, text, value.Taint{})
	case "rename", "replace":
		w.writes(c.first())
		w.fill(c.first(), nil, value.Taint{})
	case "symlink_to", "hardlink_to", "link_to":
		w.reads(c.first())
	}
}
