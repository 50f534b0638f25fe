package python

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// path is a text as a path: cleaned, absolute where that is known, "~" for the home folder.
func (w *walk) path(text string) string {
	p := shown(text)
	if p == "$HOME" || strings.HasPrefix(p, "$HOME/") {
		p = "~" + strings.TrimPrefix(p, "$HOME")
	}
	return w.at.Path(p, w.at.Workdir)
}

// paths are the paths that values name, as far as they are known: one that
// starts with something unknown is none.
func (w *walk) paths(vs objects) []string {
	var out []string
	for _, v := range vs {
		switch {
		case v.shape == isList:
			for _, item := range v.items {
				out = append(out, w.paths(item)...)
			}
		case v.shape != isString && v.shape != isPath && v.shape != isFile, v.text == "", strings.HasPrefix(v.text, holeStart),
			len(v.text) > maxText:
		default:
			out = append(out, w.path(v.text))
		}
	}
	return out
}

func (w *walk) reads(vs objects)  { w.note(&w.notes.reads, w.notable(vs)...) }
func (w *walk) writes(vs objects) { w.note(&w.notes.writes, w.notable(vs)...) }
func (w *walk) loses(vs objects)  { w.note(&w.notes.loses, w.notable(vs)...) }

// losing are the calls after which a file's content is gone.
var losing = map[string]bool{
	"os.remove": true, "os.unlink": true, "os.rmdir": true, "os.removedirs": true, "os.truncate": true, "shutil.rmtree": true,
	"send2trash.send2trash": true,
	"pathlib.Path.unlink":   true, "pathlib.Path.rmdir": true, "pathlib.Path.rename": true, "pathlib.Path.replace": true,
	"pathlib.Path.write_text": true, "pathlib.Path.write_bytes": true,
}

// notable are the paths to note, on the last walk only.
func (w *walk) notable(vs objects) []string {
	if !w.noting {
		return nil
	}
	return w.paths(vs)
}

func (w *walk) doFiles(d behaviour, c *call) objects {
	for _, vs := range c.args {
		w.escapeSome(vs)
	}
	switch d.kind {
	case doesOpenFile:
		return w.open(c)
	case doesReads:
		vs, _ := c.arg(0, d.name)
		w.reads(vs)
	case doesWrites:
		vs, _ := c.arg(0, d.name)
		w.writes(vs)
		if losing[c.name] {
			w.loses(vs)
		}
	case doesCopies, doesMoves:
		w.copies(d, c)
	}
	if strings.HasSuffix(c.name, "walk") {
		return hidden("value", value.Taint{})
	}
	return hidden("value", c.tainted())
}

func (w *walk) copies(d behaviour, c *call) {
	from, _ := c.arg(0, "src")
	to, _ := c.arg(1, "dst")
	if d.kind == doesMoves {
		w.writes(from)
		w.loses(from)
	} else {
		w.reads(from)
	}
	w.writes(to)
	w.fill(to, nil, value.Taint{})
}

// open notes a file that is opened, to read or to write as its mode says.
func (w *walk) open(c *call) objects {
	file, _ := c.arg(0, "file")
	modes, given := c.arg(1, "mode")
	if !given {
		modes = textOf("r")
	}
	for _, m := range modes {
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
		w.writes(to)
	case "extract":
		to, _ := c.arg(1, "path")
		w.writes(to)
	default:
		c.escapeAll(w)
	}
	return hidden("text", b.Taint)
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

// pathMember is an attribute of a pathlib.Path.
func pathMember(b object, name string) objects {
	if !literal(b.text) {
		return hidden(name, b.Taint)
	}
	base := path.Base(b.text)
	switch name {
	case "parent":
		return objects{{shape: isPath, text: path.Dir(b.text)}}
	case "name":
		return textOf(base)
	case "suffix":
		return textOf(path.Ext(base))
	case "stem":
		return textOf(strings.TrimSuffix(base, path.Ext(base)))
	}
	return hidden(name, b.Taint)
}

var (
	pathReads = map[string]bool{"read_text": true, "read_bytes": true, "exists": true, "is_file": true, "is_dir": true, "stat": true,
		"lstat": true, "iterdir": true, "readlink": true}
	pathWrites = map[string]bool{"write_text": true, "write_bytes": true, "unlink": true, "rmdir": true, "mkdir": true, "touch": true,
		"chmod": true, "lchmod": true, "rename": true, "replace": true, "symlink_to": true, "hardlink_to": true, "link_to": true}
)

func (w *walk) pathMethod(b object, name string, c *call) objects {
	w.note(&w.notes.calls, "pathlib.Path."+name)
	self := objects{b}
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
			w.harm(&call{name: "pathlib.Path.chmod", args: c.args, keywords: c.keywords})
		}
	case name == "open":
		opened := &call{name: "open", args: append([]objects{self}, c.args...), keywords: c.keywords, open: c.open}
		return w.open(opened)
	case name == "glob" || name == "rglob":
		pattern := joinAll(append([]objects{self}, c.args...))
		w.reads(pattern)
		return hidden("path", value.Taint{})
	case name == "joinpath":
		joined := joinAll(append([]objects{self}, c.args...))
		for i := range joined {
			joined[i].shape = isPath
		}
		return joined
	case name == "expanduser" || name == "resolve" || name == "absolute" || name == "as_posix" || name == "__str__" || name == "__fspath__":
		return self
	}
	return hidden("value", b.Taint)
}

func (w *walk) pathWrite(b object, name string, c *call) {
	switch name {
	case "write_text", "write_bytes":
		text, _ := c.arg(0, "data")
		w.fill(objects{b}, text, value.Taint{})
	case "rename", "replace":
		w.writes(c.first())
		w.fill(c.first(), nil, value.Taint{})
	case "symlink_to", "hardlink_to", "link_to":
		w.reads(c.first())
	}
}
