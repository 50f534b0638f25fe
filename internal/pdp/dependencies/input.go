package dependencies

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Input are the parts of the input document that policies read, by the names at its
// top: all of a part where there are no names in it.
type Input map[string]map[string]bool

func (p Input) add(ref ast.Ref) {
	name := string(ref[1].Value.(ast.String))
	within, known := p[name]
	if known && within == nil {
		return
	}
	if len(ref) > 2 {
		if below, fixed := ref[2].Value.(ast.String); fixed {
			if !known {
				p[name] = map[string]bool{}
			}
			p[name][string(below)] = true
			return
		}
	}
	p[name] = nil
}

var (
	inputRoot = ast.InputRootDocument.Value.(ast.Var)
	timeKey   = ast.StringTerm("time")
)

// isTimeIndependentPart says whether a reference begins with a fixed name in the input
// document that is not the time's.
func isTimeIndependentPart(ref ast.Ref) bool {
	if len(ref) < 2 || !ref[0].Equal(ast.InputRootDocument) {
		return false
	}
	_, fixed := ref[1].Value.(ast.String)
	return fixed && !ref[1].Equal(timeKey)
}

// merge adds a part with what is read in it.
func (p Input) merge(part string, within map[string]bool) {
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

func (p Input) mergeAll(others Input) {
	for part, within := range others {
		p.merge(part, within)
	}
}

// InputPart is one part of the input document, all of it where nothing below is named.
type InputPart struct{ Name, Below ast.String }

// String writes the two names with a dot between them.
func (p InputPart) String() string { return string(p.Name + "." + p.Below) }

// Parts are those that are read, in order.
func (p Input) Parts() (all []InputPart) {
	for name, within := range p {
		if within == nil {
			all = append(all, InputPart{Name: ast.String(name)})
		}
		for below := range within {
			all = append(all, InputPart{Name: ast.String(name), Below: ast.String(below)})
		}
	}
	slices.SortFunc(all, func(a, b InputPart) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Below, b.Below)) })
	return all
}

// Varies says whether a reference is to a built-in whose result differs from one call to the next. OPA marks those, except
// for the ones that hold a certificate's dates against the clock.
func Varies(ref ast.Ref) bool {
	if ref[0].Equal(ast.DefaultRootDocument) || ref[0].Equal(ast.InputRootDocument) {
		return false
	}
	name := ref.String()
	builtin, ok := ast.BuiltinMap[name]
	return ok && builtin.Nondeterministic || strings.HasPrefix(name, "crypto.x509.parse_and_verify")
}
