package dependencies

import "github.com/open-policy-agent/opa/v1/ast"

// Numbers finds the numbers of rules by the documents that they make.
type Numbers struct {
	byHash map[uint64]int
	names  []ast.Ref
}

// Add gives a document the next number, if it can be told from the others.
func (r *Numbers) Add(name ast.Ref) bool {
	hash := Hash(name)
	if _, taken := r.byHash[hash]; taken {
		return false
	}
	if r.byHash == nil {
		r.byHash = map[uint64]int{}
	}
	r.byHash[hash] = len(r.names)
	r.names = append(r.names, name)
	return true
}

// Of is the number of a document, if it has one.
func (r *Numbers) Of(name ast.Ref) (number int, ok bool) {
	number, ok = r.byHash[Hash(name)]
	return number, ok && r.names[number].Equal(name)
}

// Hash is the same for equal references.
func Hash(ref ast.Ref) uint64 {
	hash := uint64(0)
	for _, term := range ref {
		hash = hash*31 + uint64(term.Hash())
	}
	return hash
}

// IsOpen says whether an argument may mean another value elsewhere.
func IsOpen(argument *ast.Term) bool {
	switch argument.Value.(type) {
	case ast.Null, ast.Boolean, ast.Number, ast.String, *ast.Array, ast.Object, ast.Set:
		return !argument.IsGround()
	}
	return true
}
