package answers

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// reader reads a document strictly. It stops at the first thing that is wrong;
// at is the JSON pointer to it, put together on the way back out.
type reader struct{ at, wrong string }

func (r *reader) fail(format string, args ...any) {
	if r.wrong == "" {
		r.wrong = fmt.Sprintf(format, args...)
	}
}

func (r *reader) failAt(at, format string, args ...any) {
	r.at = at
	r.fail(format, args...)
}

// fields are the known keys of an object, each with the function that reads its value.
type fields []struct {
	key  string
	read func(*ast.Term)
}

// object reads an object that has known keys only, and all that are required.
func (r *reader) object(t *ast.Term, known fields, required ...string) {
	o := r.entries(t, func(key string, v *ast.Term) {
		for _, f := range known {
			if f.key == key {
				f.read(v)
				return
			}
		}
		r.fail("is no known key")
	})
	for _, key := range required {
		if r.wrong == "" && o.Get(ast.InternedTerm(key)) == nil {
			r.fail("is missing")
			r.out(key)
		}
	}
}

// into has a field hold the value that is read.
func into[T any](field *T, read func(*ast.Term) T) func(*ast.Term) {
	return func(t *ast.Term) { *field = read(t) }
}

// listOf reads all elements of an array or a set in the same way.
func listOf[T any](r *reader, read func(*ast.Term) T) func(*ast.Term) []T {
	return func(t *ast.Term) []T {
		all := []T{}
		r.each(t, func(v *ast.Term) { all = append(all, read(v)) })
		return all
	}
}

// entries hands on every entry of an object, and returns the object.
func (r *reader) entries(t *ast.Term, entry func(key string, v *ast.Term)) ast.Object {
	o, ok := t.Value.(ast.Object)
	if !ok {
		r.fail("is %s, want an object", kind(t))
		return nil
	}
	o.Until(func(k, v *ast.Term) bool {
		name, ok := k.Value.(ast.String)
		if !ok {
			r.fail("has the key %v, want strings", k)
			return true
		}
		entry(string(name), v)
		return r.out(string(name))
	})
	return o
}

// each hands on the elements of an array, or of a set, which JSON makes an array of.
func (r *reader) each(t *ast.Term, element func(*ast.Term)) {
	list, ok := t.Value.(*ast.Array)
	if set, isSet := t.Value.(ast.Set); isSet {
		list, ok = set.Sorted(), true
	}
	if !ok {
		r.fail("is %s, want an array", kind(t))
		return
	}
	for i := range list.Len() {
		element(list.Elem(i))
		if r.wrong != "" {
			r.out(strconv.Itoa(i))
			return
		}
	}
}

// out leaves an entry: if something is wrong in it, its name leads there.
func (r *reader) out(name string) (stop bool) {
	if r.wrong == "" {
		return false
	}
	r.at = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name) + r.at
	return true
}

func (r *reader) string(t *ast.Term) string {
	s, ok := t.Value.(ast.String)
	switch {
	case !ok:
		r.fail("is %s, want a string", kind(t))
	case strings.ContainsRune(string(s), 0):
		r.fail("holds a NUL byte")
	}
	return string(s)
}

// filled reads a text that is not empty.
func (r *reader) filled(t *ast.Term) string {
	s := r.string(t)
	if s == "" {
		r.fail("is empty")
	}
	return s
}

// variable reads the name of an environment variable.
func (r *reader) variable(t *ast.Term) string { return r.variableNamed(r.string(t)) }

func (r *reader) variableNamed(name string) string {
	if !bailiff.IsVariable(name) {
		r.fail("is %q, which is no name of a variable", name)
	}
	return name
}

func (r *reader) path(t *ast.Term) string {
	s := r.string(t)
	if !path.IsAbs(s) || path.Clean(s) != s {
		r.fail("is %q, want a clean absolute path", s)
	}
	return s
}

// oneOf reads one of several known words.
func (r *reader) oneOf(known ...string) func(*ast.Term) string {
	return func(t *ast.Term) string {
		s := r.string(t)
		if !slices.Contains(known, s) {
			last := len(known) - 1
			r.fail("is %q, want %s or %s", s, strings.Join(known[:last], ", "), known[last])
		}
		return s
	}
}

func (r *reader) bool(t *ast.Term) bool {
	b, ok := t.Value.(ast.Boolean)
	if !ok {
		r.fail("is %s, want true or false", kind(t))
	}
	return bool(b)
}

// count reads a whole number that fits anywhere: products with a mebibyte or a
// second cannot overflow.
func (r *reader) count(t *ast.Term) int {
	n, ok := t.Value.(ast.Number)
	if !ok {
		r.fail("is %s, want a number", kind(t))
		return 0
	}
	i, ok := n.Int64()
	if !ok || i < 0 || i > math.MaxInt32 {
		r.fail("is %s, want a whole number from 0 to %d", n, math.MaxInt32)
		return 0
	}
	return int(i)
}

// maxCPUs is more than any machine has.
const maxCPUs = 4096

func (r *reader) amount(t *ast.Term) float64 {
	n, ok := t.Value.(ast.Number)
	if !ok {
		r.fail("is %s, want a number", kind(t))
		return 0
	}
	f, ok := n.Float64()
	if !ok || !(f >= 0 && f <= maxCPUs) {
		r.fail("is %s, want a number from 0 to %d", n, maxCPUs)
	}
	return f
}

// kind names what a value is.
func kind(t *ast.Term) string {
	switch name := ast.ValueName(t.Value); name {
	case "object", "array":
		return "an " + name
	case "null":
		return name
	default:
		return "a " + name
	}
}
