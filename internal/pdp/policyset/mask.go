package policyset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// maskRef is the mask for rules, maskAt for data.
var (
	maskAt  = strings.Split(MaskPath, "/")
	maskRef = ast.MustParseRef("data." + strings.Join(maskAt, "."))
)

// Masks says whether rules or data define the mask.
func (p *Set) Masks(compiler *ast.Compiler) bool {
	data, _ := p.defines(maskAt)
	return data || len(compiler.GetRules(maskRef)) > 0
}

// checkMask lists what stands literally in the mask and fits no event: wherever the
// rule holds no event could be written, and nothing would run.
func (p *Set) checkMask() (faults source.Faults) {
	for _, module := range p.modules {
		for _, rule := range module.Rules {
			if !module.Package.Path.Extend(rule.Head.Ref()).Equal(maskRef) {
				continue
			}
			for _, entry := range literals(rule) {
				if err := audit.CheckMask(entry.value); err != nil {
					faults = append(faults, source.FaultAt(entry.at, maskFault(err)))
				}
			}
		}
	}
	return append(faults, p.checkMaskInData()...)
}

func (p *Set) checkMaskInData() (faults source.Faults) {
	log, _ := p.Data[maskAt[0]].(map[string]any)
	within, _ := log[maskAt[1]].(map[string]any)
	list, _ := within[maskAt[2]].([]any)
	for i, entry := range list {
		if err := audit.CheckMask(entry); err != nil {
			faults = append(faults, p.faultAt(append(slices.Clone(maskAt), strconv.Itoa(i)), err.Error()))
		}
	}
	return faults
}

func maskFault(err error) string { return fmt.Sprintf("%s: %v", strings.Join(maskAt, "."), err) }

// literal is an entry of a mask as far as it stands in the text of a rule.
type literal struct {
	value any
	at    *ast.Location
}

// literals are the entries that a rule names itself or, as in "some path in [...]",
// in a list.
func literals(rule *ast.Rule) (all []literal) {
	key := rule.Head.Key
	if key == nil {
		return elements(rule.Head.Value)
	}
	if name, chosen := key.Value.(ast.Var); chosen {
		for _, expr := range rule.Body {
			all = append(all, chosenFrom(expr, name)...)
		}
		return all
	}
	return literalIn(key)
}

// chosenFrom are the literals of which an expression chooses a variable.
func chosenFrom(expr *ast.Expr, name ast.Var) []literal {
	some, ok := expr.Terms.(*ast.SomeDecl)
	if !ok || len(some.Symbols) != 1 {
		return nil
	}
	call, ok := some.Symbols[0].Value.(ast.Call)
	if !ok || len(call) < 3 || !call[len(call)-2].Equal(ast.NewTerm(name)) {
		return nil
	}
	return elements(call[len(call)-1])
}

// elements are the literals in a list or a set.
func elements(term *ast.Term) (all []literal) {
	take := func(t *ast.Term) { all = append(all, literalIn(t)...) }
	switch list := term.Value.(type) {
	case *ast.Array:
		list.Foreach(take)
	case ast.Set:
		list.Foreach(take)
	}
	return all
}

// literalIn is an entry whose path stands in the text, with what else does.
func literalIn(term *ast.Term) []literal {
	object, ok := term.Value.(ast.Object)
	if !ok {
		if value, err := ast.JSON(term.Value); term.IsGround() && err == nil {
			return []literal{{value, term.Location}}
		}
		return nil
	}
	entry := map[string]any{}
	object.Foreach(func(key, value *ast.Term) {
		name, named := key.Value.(ast.String)
		if text, fixed := value.Value.(ast.String); named && fixed {
			entry[string(name)] = string(text)
		} else if named && name == "op" && !value.IsGround() {
			entry["op"] = "remove" // or what it will be
		}
	})
	if _, fixed := entry["path"]; !fixed && object.Get(ast.StringTerm("path")) != nil {
		return nil
	}
	return []literal{{entry, term.Location}}
}

// MaskPath is the document that masks events of the decision log.
const MaskPath = "system/log/mask"
