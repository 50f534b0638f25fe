package pdp

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/recent"
)

// What a request's circumstances settle (which backend, limits and network, by the platform, the chat and what is
// configured) does not depend on its text. The rules of which the compiler's graph of dependencies says so have
// one value for all texts: it is taken from an evaluation and given to later ones by OPA's cache of rules. Policies are
// evaluated as they are written; a rule of a team's file that reads the text makes the rules that use it depend on the text.

// ofTheText are the parts of the input document that differ from one request of a session to the next. What is not here may be
// the key of many evaluations.
var ofTheText = map[string]map[string]bool{
	"command": nil, "code": nil, "files": nil, "connection": nil, "request": nil,
	"args": {"command": true, "code": true, "stdin": true, "data": true, "arguments": true, "workdir": true, "process_id": true},
}

// isOfTheText says whether any of the parts differs from request to request.
func (p inputParts) isOfTheText() bool {
	for name, within := range p {
		varying, varies := ofTheText[name]
		if varies && (varying == nil || within == nil) {
			return true
		}
		for below := range within {
			if varying[below] {
				return true
			}
		}
	}
	return false
}

// These bound what is remembered of circumstances.
const (
	mostCircumstances     = 256
	mostCircumstanceBytes = 4 << 20
)

// settled remembers what the rules are that circumstances settle, and what functions are. It is safe for concurrent use.
type settled struct {
	rules     ruleNumbers                 // all that are behind the document
	byThem    []bool                      // by number, whether circumstances settle the rule
	constants []*atomic.Pointer[ast.Term] // by number, the values of those that read data alone; nil for the others
	read      inputParts                  // by the rules that they settle
	numbers   []int                       // of these parts
	values    *recent.Map[uint64, *extents]
	apart     *apart // rules that they do not settle
	functions *functions
}

// extents are the values of rules by their numbers, nil where a value is not known, for some parts of the document. Nothing of it
// changes.
type extents struct {
	parts []*ast.Term // nil where a part is missing
	terms []*ast.Term
	size  int
}

// settledBy finds the rules behind a document that circumstances settle.
func settledBy(readings *partReadings, document ast.Ref) *settled {
	s := &settled{read: inputParts{}, apart: newApart(), functions: newFunctions(), values: recent.NewSized[uint64](mostCircumstances,
		mostCircumstanceBytes, func(e *extents) int { return e.size })}
	groups := groupsOf(behind(readings.compiler, document))
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		name := nameIn(groups, key)
		read, sure := readings.of(name)
		switch isFunction := slices.ContainsFunc(groups[key], isFunction); {
		case isFunction && sure && len(read) == 0:
			s.functions.add(name)
		case !isFunction:
			constant := sure && len(read) == 0
			if byThem := sure && !constant && !read.isOfTheText(); s.add(name, read, byThem, constant) {
				s.apart.add(read, sure && !constant && !byThem)
			}
		}
	}
	s.numbers = s.apart.numbersOf(s.read.parts())
	return s
}

// add gives a rule a number, if it can be told from the others.
func (s *settled) add(name ast.Ref, read inputParts, byCircumstances, constant bool) bool {
	if !s.rules.add(name) {
		return false
	}
	s.byThem = append(s.byThem, byCircumstances)
	s.constants = append(s.constants, nil)
	if constant {
		s.constants[len(s.constants)-1] = new(atomic.Pointer[ast.Term])
	}
	if byCircumstances {
		for part, within := range read {
			s.read.merge(part, within)
		}
	}
	return true
}

func isFunction(rule *ast.Rule) bool { return len(rule.Head.Args) > 0 }

// nameOf is the document that a rule is a part of: its package and the name after that.
func nameOf(rule *ast.Rule) (ast.Ref, bool) {
	length := len(rule.Module.Package.Path) + 1
	ref := rule.Ref()
	return ref[:min(length, len(ref))], len(ref) >= length && ref[:length].IsGround()
}

// groupsOf are the rules by the documents that they make: where a name has others below it ("_examined.paths"), each of these is
// one by itself if none is computed.
func groupsOf(rules map[*ast.Rule]bool) map[string][]*ast.Rule {
	groups, computed := map[string][]*ast.Rule{}, map[string]bool{}
	for rule := range rules {
		if name, ok := nameOf(rule); ok {
			groups[name.String()] = append(groups[name.String()], rule)
			computed[name.String()] = computed[name.String()] || !rule.Ref().IsGround()
		}
	}
	for name, all := range maps.Clone(groups) {
		if computed[name] {
			continue
		}
		delete(groups, name)
		for _, rule := range all {
			groups[rule.Ref().String()] = append(groups[rule.Ref().String()], rule)
		}
	}
	return groups
}

// nameIn is the name of a group.
func nameIn(groups map[string][]*ast.Rule, key string) ast.Ref {
	name := groups[key][0].Ref()
	if name.String() != key {
		name, _ = nameOf(groups[key][0])
	}
	return name
}

// merge adds a part with what is read in it.
func (p inputParts) merge(part string, within map[string]bool) {
	known, has := p[part]
	if within == nil || has && known == nil {
		p[part] = nil
		return
	}
	if !has {
		p[part] = map[string]bool{}
	}
	maps.Copy(p[part], within)
}

func (p inputParts) mergeAll(others inputParts) {
	for part, within := range others {
		p.merge(part, within)
	}
}

// begin is the cache of an evaluation about a document, which knows what is remembered of its circumstances.
func (s *settled) begin(document ast.Value) *evaluationCache {
	cache := newEvaluationCache(s)
	object, ok := document.(ast.Object)
	if !ok {
		return cache
	}
	cache.apart = s.apart.begin(object)
	known, _ := s.values.Get(cache.apart.hashOf(s.numbers))
	if known != nil && cache.apart.have(s.numbers, known.parts) {
		copy(cache.rules, known.terms)
	}
	return cache
}

// end remembers what a sound evaluation found about circumstances and functions.
func (s *settled) end(cache *evaluationCache) {
	s.functions.remember(cache.calls)
	for _, n := range cache.constants {
		s.constants[n].Store(cache.rules[n])
	}
	if cache.apart == nil {
		return
	}
	cache.apart.end()
	if !cache.settledMore {
		return
	}
	found := &extents{terms: cache.rules}
	if found.parts, found.size = cache.apart.take(s.numbers); found.size > maxKept {
		return
	}
	for i, term := range found.terms {
		if !s.byThem[i] {
			found.terms[i] = nil
		} else if term != nil {
			found.size += sizeOf(term)
		}
	}
	s.values.Put(cache.apart.hashOf(s.numbers), found)
}
