package rulecache

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// These bound what is remembered of functions, which is at most twice as much.
const (
	mostCallValues     = 4096
	mostCallValueBytes = 2 << 20
)

// functions remembers the values of functions of arguments and data. It is safe for concurrent use.
type functions struct {
	byName map[ast.String][]ast.Ref // by the last part of their references
	values *recent.Map[uint64, *callValue]
}

// callValue is the value of one call of a function. Nothing of it changes.
type callValue struct {
	call  ast.Ref // as OPA writes it for its cache: the function's reference, and the arguments
	value *ast.Term
	size  int
}

func newCallValues() *recent.Map[uint64, *callValue] {
	return recent.NewSized[uint64](mostCallValues, mostCallValueBytes, func(v *callValue) int { return v.size })
}

func (f *functions) add(function ast.Ref) {
	name, _ := function[len(function)-1].Value.(ast.String)
	f.byName[name] = append(f.byName[name], function)
}

// isCall says whether a key of OPA's cache is a call of one of the functions, with values. A key of another kind begins with the
// root of all documents.
func (f *functions) isCall(key ast.Ref) bool {
	function, ok := key[0].Value.(ast.Ref)
	if !ok {
		return false
	}
	name, _ := function[len(function)-1].Value.(ast.String)
	return slices.ContainsFunc(f.byName[name], func(one ast.Ref) bool { return one.Equal(function) }) &&
		!slices.ContainsFunc([]*ast.Term(key[1:]), dependencies.IsOpen)
}

// remember keeps the values that a sound evaluation found. In one that fails they may be in conflict with others.
func (f *functions) remember(calls map[uint64]*callValue) {
	for hash, one := range calls {
		one.size = document.SizeOf(one.value)
		for _, argument := range one.call[1:] {
			one.size += document.SizeOf(argument)
		}
		if one.size <= largestValue {
			f.values.Put(hash, one)
		}
	}
}
