package document

import "github.com/open-policy-agent/opa/v1/ast"

// SizeOf is how many bytes a value takes, or nearly so.
func SizeOf(t *ast.Term) int {
	const each = 64
	size := each
	switch v := t.Value.(type) {
	case ast.String:
		size += len(v)
	case *ast.Array:
		for i := range v.Len() {
			size += SizeOf(v.Elem(i))
		}
	case ast.Set:
		for _, t := range v.Slice() {
			size += SizeOf(t)
		}
	case ast.Object:
		names := v.KeysIterator()
		for name, more := names.Next(); more; name, more = names.Next() {
			size += SizeOf(name) + SizeOf(v.Get(name))
		}
	}
	return size
}
