package rulecache

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
)

// Evaluation is OPA's cache of one evaluation: what rules and functions are. What earlier evaluations found is in it
// from the start. Where the input document or data are replaced by others, OPA's own cache serves, which forgets that.
type Evaluation struct {
	topdown.VirtualCache // of parts of rules, too
	cache                *Cache
	rules                []*ast.Term    // by number
	parts                *documentParts // nil where the input document is no object
	found                []*ruleValue
	hashes               []uint64 // of those found
	calls                map[uint64]*callValue
	replaced             int // how many "with" are around what is evaluated
}

func newEvaluation(c *Cache, document ast.Value) *Evaluation {
	cache := &Evaluation{VirtualCache: topdown.NewVirtualCache(), cache: c, rules: make([]*ast.Term, len(c.byRule))}
	if object, ok := document.(ast.Object); ok {
		cache.parts = partsOf(c, object)
	}
	return cache
}

// undefined is the value of a rule that has none.
var undefined = ast.NewTerm(ast.Null{})

func (c *Evaluation) Push() {
	c.replaced++
	c.VirtualCache.Push()
}

func (c *Evaluation) Pop() {
	c.replaced--
	c.VirtualCache.Pop()
}

func (c *Evaluation) Get(key ast.Ref) (value *ast.Term, isUndefined bool) {
	if c.replaced > 0 {
		return c.VirtualCache.Get(key)
	}
	if _, isCall := key[0].Value.(ast.Ref); isCall {
		if c.cache.functions.isCall(key) {
			return c.valueOf(key), false
		}
		return c.VirtualCache.Get(key)
	}
	if n, ok := c.cache.numberOf(key); ok {
		if c.rules[n] == nil && c.parts != nil {
			c.rules[n] = c.parts.valueOf(n)
		}
		if value = c.rules[n]; value == undefined {
			return nil, true
		}
		return value, false
	}
	return c.VirtualCache.Get(key)
}

// valueOf is the value of a call, nil where it is not known.
func (c *Evaluation) valueOf(call ast.Ref) *ast.Term {
	hash := dependencies.Hash(call)
	known := c.calls[hash]
	if known == nil {
		known, _ = c.cache.functions.values.Get(hash)
	}
	if known == nil || !known.call.Equal(call) {
		return nil
	}
	return known.value
}

func (c *Evaluation) Put(key ast.Ref, value *ast.Term) {
	if c.replaced > 0 {
		c.VirtualCache.Put(key, value)
		return
	}
	if n, ok := c.cache.numberOf(key); ok {
		if value == nil {
			value = undefined
		}
		c.rules[n] = value
		if c.parts == nil {
			return
		}
		if one, hash := c.parts.remember(n, value); one != nil {
			c.found, c.hashes = append(c.found, one), append(c.hashes, hash)
		}
		return
	}
	if value == nil || !c.cache.functions.isCall(key) {
		c.VirtualCache.Put(key, value)
		return
	}
	if c.calls == nil {
		c.calls = map[uint64]*callValue{}
	}
	c.calls[dependencies.Hash(key)] = &callValue{call: slices.Clone(key), value: value}
}
