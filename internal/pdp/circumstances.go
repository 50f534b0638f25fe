package pdp

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

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

// settled remembers what the rules are that circumstances settle. It is safe for concurrent use; a nil one remembers nothing.
type settled struct {
	rules  []ast.Ref
	read   inputParts
	values *recent.Map[string, *extents]
}

// extents are the values of rules, nil where a rule is undefined. Nothing of it changes.
type extents struct {
	rules []ast.Ref
	terms []*ast.Term
	size  int
}

// settledBy finds the rules behind a document that circumstances settle.
func settledBy(compiler *ast.Compiler, document ast.Ref) *settled {
	s := &settled{read: inputParts{}, values: recent.NewSized[string](mostCircumstances, mostCircumstanceBytes,
		func(e *extents) int { return e.size })}
	groups, known := map[string][]*ast.Rule{}, readings{}
	for rule := range behind(compiler, document) {
		if name, ok := nameOf(rule); ok {
			groups[name.String()] = append(groups[name.String()], rule)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		name, _ := nameOf(groups[key][0])
		read, sure := known.of(compiler, name)
		if !sure || read.isOfTheText() || slices.ContainsFunc(groups[key], isFunction) {
			continue
		}
		s.rules = append(s.rules, name)
		for part, within := range read {
			s.read.merge(part, within)
		}
	}
	return s
}

func isFunction(rule *ast.Rule) bool { return len(rule.Head.Args) > 0 }

// nameOf is the document that a rule is a part of: its package and the name after that.
func nameOf(rule *ast.Rule) (ast.Ref, bool) {
	length := len(rule.Module.Package.Path) + 1
	ref := rule.Ref()
	return ref[:min(length, len(ref))], len(ref) >= length && ref[:length].IsGround()
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

// begin is the cache of an evaluation about a document, which holds what is remembered of its circumstances.
func (s *settled) begin(document ast.Value) (cache topdown.VirtualCache, key string, known *extents) {
	cache = topdown.NewVirtualCache()
	object, ok := document.(ast.Object)
	if s == nil || len(s.rules) == 0 || !ok {
		return cache, "", nil
	}
	text, err := s.read.appendOf(nil, object)
	if err != nil || len(text) > maxKept {
		return cache, "", nil
	}
	key = string(text)
	if known, _ = s.values.Get(key); known != nil {
		for i, rule := range known.rules {
			cache.Put(rule, known.terms[i])
		}
	}
	return cache, key, known
}

// end remembers what a sound evaluation found about circumstances.
func (s *settled) end(cache topdown.VirtualCache, key string, known *extents) {
	if key == "" || known != nil && len(known.rules) == len(s.rules) {
		return
	}
	found := &extents{size: len(key)}
	for _, rule := range s.rules {
		term, undefined := cache.Get(rule)
		if term == nil && !undefined {
			continue
		}
		found.rules, found.terms = append(found.rules, rule), append(found.terms, term)
		if term != nil {
			found.size += len(term.String())
		}
	}
	if known == nil || len(found.rules) > len(known.rules) {
		s.values.Put(key, found)
	}
}
