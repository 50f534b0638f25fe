package policyset

import (
	"fmt"
	"regexp"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// Rules of the shipped policies that only they use begin with "_", which they did not
// always do. A team's file that uses one by its old name is told the new one.

// unknownName finds the name in OPA's fault about one that is defined nowhere.
var unknownName = regexp.MustCompile(`^(?:var|undefined function) (?:(data[\w.]*)\.)?([a-z]\w*)(?: is unsafe)?$`)

// FaultsOf are a compiler's, with the new name of each rule that is called by its old one.
func FaultsOf(compiler *ast.Compiler) source.Faults {
	errs := make(ast.Errors, len(compiler.Errors))
	for i, e := range compiler.Errors {
		one := *e
		if found := unknownName.FindStringSubmatch(e.Message); found != nil {
			one.Message += newName(compiler, packageOf(compiler, e, found[1]), found[2])
		}
		errs[i] = &one
	}
	return source.FaultsOf(errs, "").Sorted()
}

// packageOf is the one that a fault names, or the one of the file in which it is.
func packageOf(compiler *ast.Compiler, e *ast.Error, named string) ast.Ref {
	if named != "" {
		return ast.MustParseRef(named)
	}
	if e.Location != nil && compiler.Modules[e.Location.File] != nil {
		return compiler.Modules[e.Location.File].Package.Path
	}
	return packageBailiff
}

// newName says how a rule of a package is called that has an old name; empty if it has none.
func newName(compiler *ast.Compiler, in ast.Ref, name string) string {
	if len(compiler.GetRules(in.Append(ast.StringTerm(name)))) > 0 || len(compiler.GetRules(in.Append(ast.StringTerm("_"+name)))) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s.%s is called _%s now", in, name, name)
}

// OldNames lists references from any package to rules by their old names, which would be
// undefined, in silence. The compiler holds the tests too.
func (p *Set) OldNames(compiler *ast.Compiler) (faults source.Faults) {
	for _, module := range compiler.Modules {
		ast.WalkRefs(module, func(ref ast.Ref) bool {
			at := ref.ConstantPrefix()
			for i := 2; i < len(at) && at[0].Equal(ast.DefaultRootDocument); i++ {
				name, ok := at[i].Value.(ast.String)
				if !ok || p.holds(at[:i+1]) {
					break
				}
				if renamed := newName(compiler, at[:i], string(name)); renamed != "" && at[0].Location != nil {
					faults = append(faults, source.FaultAt(at[0].Location, "no rule is called "+string(name)+renamed))
				}
			}
			return false
		})
	}
	return faults.Sorted()
}

// holds says whether data has something at a path.
func (p *Set) holds(at ast.Ref) bool {
	var here any = p.Data
	for _, step := range at[1:] {
		object, _ := here.(map[string]any)
		name, _ := step.Value.(ast.String)
		if here = object[string(name)]; here == nil {
			return false
		}
	}
	return true
}
