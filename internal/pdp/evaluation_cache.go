package pdp

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// evaluationCache is OPA's cache of one evaluation: what rules and functions are. What earlier evaluations found is in it
// from the start. Where the input document or data are replaced by others, OPA's own cache serves, which forgets that.
type evaluationCache struct {
	topdown.VirtualCache // of parts of rules, too
	settled              *settled
	rules                []*ast.Term // by number
	apart                *apartCache // nil where the input document is no object
	calls                map[uint64]*callValue
	replaced             int   // how many "with" are around what is evaluated
	settledMore          bool  // than what was known at the start
	constants            []int // that were not known at the start
}

func newEvaluationCache(s *settled) *evaluationCache {
	return &evaluationCache{VirtualCache: topdown.NewVirtualCache(), settled: s, rules: make([]*ast.Term, len(s.byThem))}
}

// undefined is the value of a rule that has none.
var undefined = ast.NewTerm(ast.Null{})

func (c *evaluationCache) Push() {
	c.replaced++
	c.VirtualCache.Push()
}

func (c *evaluationCache) Pop() {
	c.replaced--
	c.VirtualCache.Pop()
}

func (c *evaluationCache) Get(key ast.Ref) (value *ast.Term, isUndefined bool) {
	if c.replaced > 0 {
		return c.VirtualCache.Get(key)
	}
	if _, isCall := key[0].Value.(ast.Ref); isCall {
		if c.settled.functions.isCall(key) {
			return c.valueOf(key), false
		}
		return c.VirtualCache.Get(key)
	}
	if n, ok := c.settled.rules.of(key); ok {
		if c.rules[n] == nil {
			c.rules[n] = c.earlier(n)
		}
		if value = c.rules[n]; value == undefined {
			return nil, true
		}
		return value, false
	}
	return c.VirtualCache.Get(key)
}

// earlier is what an earlier evaluation found a rule to be, nil where none did.
func (c *evaluationCache) earlier(rule int) *ast.Term {
	if constant := c.settled.constants[rule]; constant != nil {
		return constant.Load()
	}
	if c.apart == nil {
		return nil
	}
	return c.apart.valueOf(rule)
}

// valueOf is the value of a call, nil where it is not known.
func (c *evaluationCache) valueOf(call ast.Ref) *ast.Term {
	hash := hashOf(call)
	known := c.calls[hash]
	if known == nil {
		known, _ = c.settled.functions.values.Get(hash)
	}
	if known == nil || !known.call.Equal(call) {
		return nil
	}
	return known.value
}

func (c *evaluationCache) Put(key ast.Ref, value *ast.Term) {
	if c.replaced > 0 {
		c.VirtualCache.Put(key, value)
		return
	}
	if n, ok := c.settled.rules.of(key); ok {
		if value == nil {
			value = undefined
		}
		c.rules[n] = value
		c.settledMore = c.settledMore || c.settled.byThem[n]
		switch {
		case c.settled.constants[n] != nil:
			c.constants = append(c.constants, n)
		case c.apart != nil:
			c.apart.put(n, value)
		}
		return
	}
	if value == nil || !c.settled.functions.isCall(key) {
		c.VirtualCache.Put(key, value)
		return
	}
	if c.calls == nil {
		c.calls = map[uint64]*callValue{}
	}
	c.calls[hashOf(key)] = &callValue{call: slices.Clone(key), value: value}
}

// ruleNumbers finds the numbers of rules by the documents that they make.
type ruleNumbers struct {
	byHash map[uint64]int
	names  []ast.Ref
}

// add gives a document the next number, if it can be told from the others.
func (r *ruleNumbers) add(name ast.Ref) bool {
	hash := hashOf(name)
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

func (r *ruleNumbers) of(name ast.Ref) (number int, ok bool) {
	number, ok = r.byHash[hashOf(name)]
	return number, ok && r.names[number].Equal(name)
}

// hashOf is the same for equal references.
func hashOf(ref ast.Ref) uint64 {
	hash := uint64(0)
	for _, term := range ref {
		hash = hash*31 + uint64(term.Hash())
	}
	return hash
}

// sizeOf is how many bytes a value takes, or nearly so.
func sizeOf(t *ast.Term) int {
	const each = 64
	size := each
	switch v := t.Value.(type) {
	case ast.String:
		size += len(v)
	case *ast.Array:
		for i := range v.Len() {
			size += sizeOf(v.Elem(i))
		}
	case ast.Set:
		for _, t := range v.Slice() {
			size += sizeOf(t)
		}
	case ast.Object:
		names := v.KeysIterator()
		for name, more := names.Next(); more; name, more = names.Next() {
			size += sizeOf(name) + sizeOf(v.Get(name))
		}
	}
	return size
}
