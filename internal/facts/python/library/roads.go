package library

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// A module is an attribute of every module that imports it: pathlib.os is os. So a
// module that does things is known by its name wherever that stands in a dotted name,
// and what stands before it is dropped.

// modulesOfDeeds are the modules that are known wherever their names stand.
var modulesOfDeeds = value.SetOf("os sys subprocess builtins importlib shutil ctypes cffi pty runpy pickle marshal socket " +
	"smtplib ftplib requests urllib.request http.client")

// ownNames are names that end like those and are something else.
var ownNames = value.SetOf("asyncio.subprocess socket.socket _socket.socket")

// Standard are the modules of Python's standard library.
var Standard = value.PythonLibrary()

// sameModules are other names of modules.
var sameModules = map[string]string{"posix": "os", "nt": "os", "pyio": "io", "frozen_importlib": "importlib",
	"frozen_importlib_external": "importlib", "__builtins__": "builtins", "__builtin__": "builtins"}

// sameThings are attributes by which a function, or a type that stands for one, is found again.
var sameThings = value.SetOf("__call__ __value__ __bound__ __default__")

// Canonical is the one name of what has several.
func Canonical(name string) string {
	for i := strings.LastIndexByte(name, '.'); i > 0 && sameThings[name[i+1:]]; i = strings.LastIndexByte(name, '.') {
		name = name[:i]
	}
	if strings.IndexByte(name, '.') > 0 || strings.HasPrefix(name, "_") {
		name = reached(name)
	}
	return strings.TrimPrefix(name, "builtins.")
}

// reached is what a dotted name leads to.
func reached(name string) string {
	for start := len(name); start > 0; {
		start = strings.LastIndexByte(name[:start-1], '.') + 1
		if full, ok := roadFrom(name, start); ok {
			return full
		}
	}
	dot := strings.LastIndexByte(name, '.')
	for _, prefix := range []string{"_builtin_", "builtin_", "bltn_"} {
		if own, ok := strings.CutPrefix(name[dot+1:], prefix); ok && dot >= 0 && Effective(own) {
			return own
		}
	}
	return name
}

// roadFrom is the name from a part on, if a module of deeds or a known call begins there.
func roadFrom(name string, start int) (string, bool) {
	full := name[start:]
	head, rest, more := strings.Cut(full, ".")
	if head == "" || start > 0 && ownNames[name[strings.LastIndexByte(name[:start-1], '.')+1:start+len(head)]] {
		return "", false
	}
	if known(full, head, rest, more) {
		return full, true
	}
	same, ok := sameModules[head]
	if !ok {
		same = strings.TrimPrefix(head, "_")
		if other, known := sameModules[same]; known {
			same, ok = other, true
		}
	}
	if same == head {
		return "", false
	}
	if full = strings.TrimSuffix(same+"."+rest, "."); ok || known(full, same, rest, more) {
		return full, true
	}
	return "", false
}

// known says whether a name, of which the head is its first part, begins with a module of
// deeds or is that of a known call.
func known(full, head, rest string, more bool) bool {
	if modulesOfDeeds[head] || !more {
		return modulesOfDeeds[head]
	}
	second, _, _ := strings.Cut(rest, ".")
	return modulesOfDeeds[full[:len(head)+1+len(second)]] || Effective(full)
}

// InsideOf are the names that a symbol holds, where it is a namespace and no value:
// "os" for "os.__dict__".
func InsideOf(name string) (module string, ok bool) {
	if name == "globals()" || name == "locals()" || name == "sys.modules" {
		return name, true
	}
	return strings.CutSuffix(name, ".__dict__")
}

// OwnNamespace says that a symbol stands for the names of the program itself.
func OwnNamespace(name string) bool {
	name = strings.TrimSuffix(name, ".__dict__")
	return name == "globals()" || name == "locals()" || name == "__main__"
}

// LooksInto are the methods of a namespace that change nothing.
var LooksInto = value.SetOf("keys values items copy __contains__ __len__ __iter__ __repr__ __str__")

// ThroughValue is a call such as x.os.system: what x is is not known, but a module
// that it holds is known by its name.
func ThroughValue(e *syntax.Expression) (string, bool) {
	holder := e.Kids[0]
	if holder.Form != syntax.AttributeForm {
		return "", false
	}
	name := holder.Text + "." + e.Text
	full := reached("." + name)
	return full, full != "."+name && Effective(full)
}

// private says whether a name is one that a module of the standard library keeps for
// itself, such as uuid._run: what that does is not told.
func private(name string) bool {
	top, _, _ := strings.Cut(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	return Standard[top] && len(last) > 1 && len(last) < len(name) && last[0] == '_' && last[1] >= 'a' && last[1] <= 'z'
}
