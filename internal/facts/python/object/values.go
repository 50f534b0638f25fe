// Package object is the domain of values by which a Python program is read: texts with holes for what is not known, lists, dictionaries,
// symbols, functions and scopes, with their taint, and what operators, formats and methods of texts make of them.
//
// What is promised: nothing here walks a program or notes a fact; a value that holds too much is unknown.
//
// What is not here: statements, calls and what they do (package python), and what names mean (package library).
package object

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Shape is what is known of a value.
type Shape uint8

const (
	IsUnknown  Shape = iota // text: how it is shown
	IsString                // text, possibly with holes; bytes too
	IsInt                   // number
	IsList                  // items
	IsDict                  // items: key, value, key, value …
	IsSymbol                // text: the dotted name of something imported or built in
	IsPath                  // text, possibly with holes: a pathlib.Path
	IsFile                  // text: the path of an open file
	IsInstance              // text: the dotted name of its class
	IsCallable              // function
)

// Object is one value that an expression may have.
type Object struct {
	Shape Shape
	// Open says that a list or a dictionary may hold more than items.
	Open bool
	// Buffer says that a text is a bytearray, Tuple that a list cannot be changed.
	Buffer, Tuple bool
	// Reference says that only the thing tells what it holds.
	Reference bool
	// Several says that what an open list holds besides is like what it is known to hold.
	Several bool
	// things says that there are such things in it.
	things   bool
	Text     string
	Number   int64
	Items    []Objects
	Function *Function
	// File is the path of the file whose whole content a text is that is not known.
	File string
	// Made is the thing that a list, a dictionary or a bytearray is.
	Made *Made
	// size counts what is in it, to any depth; that of one which was not measured yet is 0, and counts as 1.
	size int
	value.Taint
}

// Objects are the values that an expression may have. None at all is code
// that nothing in the program reaches. Several holders may share them: a function changes only such as it made itself.
type Objects []Object

// MaxValues is how many values of one expression are told apart, MaxSize
// how much one may hold.
const MaxValues, MaxSize = 8, 20_000

// Measured are values with their sizes, and the size of all; their items are measured already.
func (vs Objects) Measured() (measured Objects, size int) {
	measured = vs
	for i := range vs {
		v := &vs[i]
		n, things := 1+len(v.Text)/64, v.things
		for _, item := range v.Items {
			for j := range item {
				n += max(1, item[j].size)
				things = things || item[j].things || item[j].Made != nil
			}
		}
		if size += n; n == max(1, v.size) && things == v.things {
			continue
		}
		if &measured[0] == &vs[0] {
			measured = slices.Clone(vs)
		}
		measured[i].size, measured[i].things = n, things
	}
	return measured, size
}

// Hidden is a value that is not known, and how it is shown.
func Hidden(shown string, t value.Taint) Objects {
	return Objects{{Shape: IsUnknown, Text: shown, Taint: t}}
}

// TextOf is a text.
func TextOf(s string) Objects { return Objects{{Shape: IsString, Text: s}} }

// SymbolOf is something imported or built in, by its dotted name.
func SymbolOf(name string) Objects { return Objects{{Shape: IsSymbol, Text: library.Canonical(name)}} }

// With is the union of two sets; one that grows too large holds something unknown.
func (vs Objects) With(more Objects) Objects {
	if len(vs) == 0 && len(more) > 0 && more.areDistinct() {
		return more[:len(more):len(more)]
	}
	out, isOwn := vs, false
	for i := range more {
		if out.has(&more[i]) {
			continue
		}
		if len(out) >= MaxValues {
			return append(out[:MaxValues-1:MaxValues-1], Object{Shape: IsUnknown, Text: "value", Taint: out.Tainted().With(more.Tainted())})
		}
		if !isOwn {
			out, isOwn = append(make(Objects, 0, min(MaxValues, len(vs)+len(more)-i)), vs...), true
		}
		out = append(out, more[i])
	}
	return out[:len(out):len(out)]
}

// areDistinct says that values are such as With gives them: few, and no two alike.
func (vs Objects) areDistinct() bool {
	for i := range vs {
		if i >= MaxValues || vs[:i].has(&vs[i]) {
			return false
		}
	}
	return true
}

func (vs Objects) has(v *Object) bool {
	for i := range vs {
		if vs[i].isLike(v) {
			return true
		}
	}
	return false
}

// Same says whether two values are alike in everything.
func (v Object) Same(o Object) bool { return v.isLike(&o) }

func (v *Object) isLike(o *Object) bool {
	if v.Shape != o.Shape || v.Text != o.Text || v.Number != o.Number || v.Taint != o.Taint || v.Open != o.Open ||
		v.Function != o.Function || v.File != o.File || v.Made != o.Made || v.Buffer != o.Buffer ||
		v.Several != o.Several || len(v.Items) != len(o.Items) {
		return false
	}
	for i, item := range v.Items {
		other := o.Items[i]
		if len(item) != len(other) {
			return false
		}
		for j := range item {
			if !item[j].isLike(&other[j]) {
				return false
			}
		}
	}
	return true
}

// Tainted is the taint of any of the values.
func (vs Objects) Tainted() value.Taint {
	var all value.Taint
	for i := range vs {
		all = all.With(vs[i].AllTaint())
	}
	return all
}

// AllTaint is the taint of a value and of what is in it.
func (v *Object) AllTaint() value.Taint {
	all := v.Taint
	all.Environ = all.Environ || v.isEnviron()
	all.Read = all.Read || v.Shape == IsFile
	for _, item := range v.Items {
		all = all.With(item.Tainted())
	}
	return all
}

// A text keeps its unknown parts as holes: a name between characters that no
// text may hold. A hole that stands for an environment variable is told apart,
// since a shell would put the same there.
const (
	HoleStart    = "\ufdd0"
	VariableHole = "\ufdd2"
	HoleEnd      = "\ufdd1"
)

// Unmarked is a text of the program without the characters that mark holes.
func Unmarked(s string) string {
	if !strings.Contains(s, "\ufdd0") && !strings.Contains(s, "\ufdd1") && !strings.Contains(s, "\ufdd2") {
		return s
	}
	return strings.NewReplacer(HoleStart, "\ufffd", VariableHole, "\ufffd", HoleEnd, "\ufffd").Replace(s)
}

// Whole says whether a text has no unknown part.
func Whole(s string) bool { return !strings.Contains(s, HoleStart) }

// Literal says whether a text has no hole at all.
func Literal(s string) bool { return Whole(s) && !strings.Contains(s, VariableHole) }

// Shown writes each hole as $name.
func Shown(s string) string {
	if Literal(s) {
		return s
	}
	return showing.Replace(s)
}

var showing = strings.NewReplacer(AnyName, "$name", HoleStart, "$", VariableHole, "$", HoleEnd, "")

// Hole stands in a text for what is not known.
func Hole(name string) string { return HoleStart + holeName(name) + HoleEnd }

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

// Str is a value as text, with a hole where it is not known.
func (v Object) Str() string {
	switch v.Shape {
	case IsString, IsPath:
		return v.Text
	case IsInt:
		return itoa(v.Number)
	case IsSymbol:
		switch v.Text {
		case "os.sep":
			return "/"
		case "sys.executable":
			return "python3"
		}
	}
	return Hole(v.Text)
}

// Strs are the values as texts.
func (vs Objects) Strs() Objects {
	var out Objects
	for _, v := range vs {
		out = out.With(Objects{{Shape: IsString, Text: v.Str(), Taint: v.AllTaint()}})
	}
	return out
}

// Only is the single known text of a set.
func (vs Objects) Only() (string, bool) {
	if len(vs) == 1 && (vs[0].Shape == IsString || vs[0].Shape == IsPath) && Literal(vs[0].Text) {
		return vs[0].Text, true
	}
	return "", false
}

// EachPair combines every value of one set with every value of another.
func EachPair(a, b Objects, combine func(a, b Object) Object) Objects {
	var out Objects
	for _, x := range a {
		for _, y := range b {
			v := combine(x, y)
			v.Taint = v.Taint.With(x.Taint).With(y.Taint)
			out = out.With(Objects{v})
		}
	}
	return out
}

// Glue joins two texts.
func Glue(a, b Object) Object {
	text := a.Str() + b.Str()
	if len(text) > value.MaxValue {
		return Object{Shape: IsUnknown, Text: "text"}
	}
	return Object{Shape: IsString, Text: text}
}

// Elements are the values that a loop over vs gives.
func Elements(vs Objects, name string) Objects {
	var out Objects
	for _, v := range vs {
		if v.Shape != IsList || v.Open && !v.Several {
			out = out.With(Hidden(name, v.AllTaint()))
		}
		if v.Shape == IsList {
			for _, item := range v.Items {
				out = out.With(item)
			}
		}
	}
	return out
}

// IsEnviron says whether one of the values is the environment.
func IsEnviron(vs Objects) bool {
	for i := range vs {
		if vs[i].isEnviron() {
			return true
		}
	}
	return false
}

func (v *Object) isEnviron() bool {
	return v.Shape == IsSymbol && (v.Text == "os.environ" || v.Text == "os.environb")
}

// Extended is a list with all items of another one at its end.
func (v Object) Extended(more Objects) Object {
	v.Items = v.Items[:len(v.Items):len(v.Items)]
	if len(more) == 1 && more[0].Shape == IsList && !more[0].Open {
		v.Items = append(v.Items, more[0].Items...)
		return v
	}
	v.Items = append(v.Items, Elements(more, "value"))
	// How many there are is not known, which changes no item before them.
	return v
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// JoinPath is a/b, or b if that is absolute.
func JoinPath(a, b Object) Object {
	left, right := a.Str(), b.Str()
	switch {
	case strings.HasPrefix(right, "/") || left == "":
		left = right
	case strings.HasSuffix(left, "/"):
		left += right
	default:
		left += "/" + right
	}
	if len(left) > value.MaxValue {
		left = Hole("path")
	}
	return Object{Shape: IsPath, Text: left}
}

// AnyName stands in a text for a name that only a listing of its folder tells.
const AnyName = HoleStart + "*" + HoleEnd

// MaxRounds is how many rounds of a comprehension are followed.
const MaxRounds = 1000
