package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// pyShape is what is known of a value.
type pyShape uint8

const (
	pyUnknown  pyShape = iota // text: how it is shown
	pyString                  // text, possibly with holes; bytes too
	pyInt                     // number
	pyList                    // items
	pyDict                    // items: key, value, key, value …
	pySymbol                  // text: the dotted name of something imported or built in
	pyPath                    // text, possibly with holes: a pathlib.Path
	pyFile                    // text: the path of an open file
	pyObject                  // text: the dotted name of its class
	pyCallable                // function
)

// pyValue is one value that an expression may have.
type pyValue struct {
	shape  pyShape
	text   string
	number int64
	items  []pyValues
	// open says that a list or a dictionary may hold more than items.
	open     bool
	function *pyFunction
	// size counts what is in it, to any depth.
	size int
	value.Taint
}

// pyValues are the values that an expression may have. None at all is code
// that nothing in the program reaches.
type pyValues []pyValue

// maxPyValues is how many values of one expression are told apart, maxPySize
// how much one may hold.
const maxPyValues, maxPySize = 8, 20_000

// measured sets the sizes of values, whose items are measured already.
func (vs pyValues) measured() (size int) {
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
func (w *pyWalk) bounded(vs pyValues) pyValues {
	size := vs.measured()
	w.steps += size / 4
	if size <= maxPySize {
		return vs
	}
	w.exhausted = true
	return pyHidden("value", value.Taint{})
}

func pyHidden(shown string, t value.Taint) pyValues {
	return pyValues{{shape: pyUnknown, text: shown, Taint: t}}
}

func pyTexts(s string) pyValues { return pyValues{{shape: pyString, text: s}} }

func pySymbols(name string) pyValues { return pyValues{{shape: pySymbol, text: canonical(name)}} }

// canonical is the one name of what has several.
func canonical(name string) string {
	for _, module := range []string{"builtins.", "__builtins__.", "__builtin__."} {
		name = strings.TrimPrefix(name, module)
	}
	if rest, ok := strings.CutPrefix(name, "posix."); ok {
		name = "os." + rest
	}
	return strings.TrimSuffix(name, ".__call__")
}

// with is the union of two sets; one that grows too large holds something unknown.
func (vs pyValues) with(more pyValues) pyValues {
	for _, m := range more {
		if slices.ContainsFunc(vs, m.same) {
			continue
		}
		if len(vs) >= maxPyValues {
			return append(vs[:maxPyValues-1:maxPyValues-1], pyValue{shape: pyUnknown, text: "value", Taint: vs.tainted().With(more.tainted())})
		}
		vs = append(vs[:len(vs):len(vs)], m)
	}
	return vs
}

func (v pyValue) same(o pyValue) bool {
	if v.shape != o.shape || v.text != o.text || v.number != o.number || v.Taint != o.Taint || v.open != o.open || v.function != o.function || len(v.items) != len(o.items) {
		return false
	}
	for i := range v.items {
		if len(v.items[i]) != len(o.items[i]) || !slices.EqualFunc(v.items[i], o.items[i], pyValue.same) {
			return false
		}
	}
	return true
}

func (vs pyValues) tainted() value.Taint {
	var all value.Taint
	for _, v := range vs {
		all = all.With(v.allTaint())
	}
	return all
}

func (v pyValue) allTaint() value.Taint {
	all := v.Taint
	all.Environ = all.Environ || isEnviron(pyValues{v})
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

// unmarked is a literal without the characters that mark holes.
func unmarked(s string) string {
	if !strings.Contains(s, "\ufdd0") && !strings.Contains(s, "\ufdd1") && !strings.Contains(s, "\ufdd2") {
		return s
	}
	return strings.NewReplacer(holeStart, "\ufffd", variableHole, "\ufffd", holeEnd, "\ufffd").Replace(s)
}

// whole says whether a text has no unknown part.
func whole(s string) bool { return !strings.Contains(s, holeStart) }

// literal says whether a text has no hole at all.
func pyLiteral(s string) bool { return whole(s) && !strings.Contains(s, variableHole) }

// shown writes each hole as $name.
func shown(s string) string {
	return strings.NewReplacer(holeStart, "$", variableHole, "$", holeEnd, "").Replace(s)
}

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
func (v pyValue) str() string {
	switch v.shape {
	case pyString, pyPath:
		return v.text
	case pyInt:
		return itoa(v.number)
	case pySymbol:
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
func (vs pyValues) strs() pyValues {
	var out pyValues
	for _, v := range vs {
		out = out.with(pyValues{{shape: pyString, text: v.str(), Taint: v.allTaint()}})
	}
	return out
}

// only is the single known text of a set.
func (vs pyValues) only() (string, bool) {
	if len(vs) == 1 && (vs[0].shape == pyString || vs[0].shape == pyPath) && pyLiteral(vs[0].text) {
		return vs[0].text, true
	}
	return "", false
}

// each combines every value of one set with every value of another.
func pyEach(a, b pyValues, combine func(a, b pyValue) pyValue) pyValues {
	var out pyValues
	for _, x := range a {
		for _, y := range b {
			v := combine(x, y)
			v.Taint = v.Taint.With(x.Taint).With(y.Taint)
			out = out.with(pyValues{v})
		}
	}
	return out
}

// glue joins two texts.
func glue(a, b pyValue) pyValue {
	text := a.str() + b.str()
	if len(text) > value.MaxValue {
		return pyValue{shape: pyUnknown, text: "text"}
	}
	return pyValue{shape: pyString, text: text}
}
