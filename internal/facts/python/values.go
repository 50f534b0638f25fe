package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// shape is what is known of a value.
type shape uint8

const (
	isUnknown  shape = iota // text: how it is shown
	isString                // text, possibly with holes; bytes too
	isInt                   // number
	isList                  // items
	isDict                  // items: key, value, key, value …
	isSymbol                // text: the dotted name of something imported or built in
	isPath                  // text, possibly with holes: a pathlib.Path
	isFile                  // text: the path of an open file
	isInstance              // text: the dotted name of its class
	isCallable              // function
)

// object is one value that an expression may have.
type object struct {
	shape  shape
	text   string
	number int64
	items  []objects
	// open says that a list or a dictionary may hold more than items.
	open     bool
	function *function
	// file is the path of the file whose whole content a text is that is not known.
	file string
	// made is where a list, a dictionary or a bytearray was made; buffer says that a text is such a bytearray.
	made   *made
	buffer bool
	// size counts what is in it, to any depth.
	size int
	value.Taint
}

// objects are the values that an expression may have. None at all is code
// that nothing in the program reaches.
type objects []object

// maxValues is how many values of one expression are told apart, maxSize
// how much one may hold.
const maxValues, maxSize = 8, 20_000

// measured sets the sizes of values, whose items are measured already.
func (vs objects) measured() (size int) {
	for i, v := range vs {
		n := 1 + len(v.text)/64
		for _, item := range v.items {
			for _, one := range item {
				n += max(1, one.size)
			}
		}
		vs[i].size = n
		size += n
	}
	return size
}

// bounded gives up values that hold too much.
func (w *walk) bounded(vs objects) objects {
	size := vs.measured()
	w.steps += size / 4
	if size <= maxSize {
		return vs
	}
	w.exhausted = true
	return hidden("value", value.Taint{})
}

func hidden(shown string, t value.Taint) objects {
	return objects{{shape: isUnknown, text: shown, Taint: t}}
}

func textOf(s string) objects { return objects{{shape: isString, text: s}} }

func symbolOf(name string) objects { return objects{{shape: isSymbol, text: canonical(name)}} }

// with is the union of two sets; one that grows too large holds something unknown.
func (vs objects) with(more objects) objects {
	for _, m := range more {
		if slices.ContainsFunc(vs, m.same) {
			continue
		}
		if len(vs) >= maxValues {
			return append(vs[:maxValues-1:maxValues-1], object{shape: isUnknown, text: "value", Taint: vs.tainted().With(more.tainted())})
		}
		vs = append(vs[:len(vs):len(vs)], m)
	}
	return vs
}

func (v object) same(o object) bool {
	if v.shape != o.shape || v.text != o.text || v.number != o.number || v.Taint != o.Taint || v.open != o.open ||
		v.function != o.function || v.file != o.file || v.made != o.made || v.buffer != o.buffer || len(v.items) != len(o.items) {
		return false
	}
	for i := range v.items {
		if len(v.items[i]) != len(o.items[i]) || !slices.EqualFunc(v.items[i], o.items[i], object.same) {
			return false
		}
	}
	return true
}

func (vs objects) tainted() value.Taint {
	var all value.Taint
	for _, v := range vs {
		all = all.With(v.allTaint())
	}
	return all
}

func (v object) allTaint() value.Taint {
	all := v.Taint
	all.Environ = all.Environ || isEnviron(objects{v})
	all.Read = all.Read || v.shape == isFile
	for _, item := range v.items {
		all = all.With(item.tainted())
	}
	return all
}

// A text keeps its unknown parts as holes: a name between characters that no
// text may hold. A hole that stands for an environment variable is told apart,
// since a shell would put the same there.
const (
	holeStart    = "\ufdd0"
	variableHole = "\ufdd2"
	holeEnd      = "\ufdd1"
)

// unmarked is a text of the program without the characters that mark holes.
func unmarked(s string) string {
	if !strings.Contains(s, "\ufdd0") && !strings.Contains(s, "\ufdd1") && !strings.Contains(s, "\ufdd2") {
		return s
	}
	return strings.NewReplacer(holeStart, "\ufffd", variableHole, "\ufffd", holeEnd, "\ufffd").Replace(s)
}

// whole says whether a text has no unknown part.
func whole(s string) bool { return !strings.Contains(s, holeStart) }

// literal says whether a text has no hole at all.
func literal(s string) bool { return whole(s) && !strings.Contains(s, variableHole) }

// shown writes each hole as $name.
func shown(s string) string {
	if literal(s) {
		return s
	}
	return showing.Replace(s)
}

var showing = strings.NewReplacer(anyName, "$name", holeStart, "$", variableHole, "$", holeEnd, "")

func hole(name string) string { return holeStart + holeName(name) + holeEnd }

// holeName is a name that is no variable of the environment.
func holeName(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		if c == '_' || c >= 'a' && c <= 'z' || b.Len() > 0 && c >= '0' && c <= '9' {
			b.WriteRune(c)
		}
	}
	if b.Len() == 0 || b.Len() > 64 {
		return "value"
	}
	return b.String()
}

// str is a value as text, with a hole where it is not known.
func (v object) str() string {
	switch v.shape {
	case isString, isPath:
		return v.text
	case isInt:
		return itoa(v.number)
	case isSymbol:
		switch v.text {
		case "os.sep":
			return "/"
		case "sys.executable":
			return "python3"
		}
	}
	return hole(v.text)
}

// strs are the values as texts.
func (vs objects) strs() objects {
	var out objects
	for _, v := range vs {
		out = out.with(objects{{shape: isString, text: v.str(), Taint: v.allTaint()}})
	}
	return out
}

// only is the single known text of a set.
func (vs objects) only() (string, bool) {
	if len(vs) == 1 && (vs[0].shape == isString || vs[0].shape == isPath) && literal(vs[0].text) {
		return vs[0].text, true
	}
	return "", false
}

// eachPair combines every value of one set with every value of another.
func eachPair(a, b objects, combine func(a, b object) object) objects {
	var out objects
	for _, x := range a {
		for _, y := range b {
			v := combine(x, y)
			v.Taint = v.Taint.With(x.Taint).With(y.Taint)
			out = out.with(objects{v})
		}
	}
	return out
}

// glue joins two texts.
func glue(a, b object) object {
	text := a.str() + b.str()
	if len(text) > value.MaxValue {
		return object{shape: isUnknown, text: "text"}
	}
	return object{shape: isString, text: text}
}
