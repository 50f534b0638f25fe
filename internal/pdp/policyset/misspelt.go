package policyset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// contributed are the keys of what files may add to the sets of package bailiff, as
// decision.rego says.
var contributed = map[string][]string{
	"findings": {"rule", "message", "match", "instead", "severity", "attack"},
	"deny":     {"rule", "message", "match", "instead", "severity", "attack"},
	"require_approval": {"rule", "message", "match", "instead", "severity", "attack", "scopes", "timeout_seconds", "grant_seconds",
		"quorum"},
	"advise":             {"rule", "message"},
	"withhold_env":       {"name", "rule"},
	"backend_candidates": {"name", "rank"},
	"limits": {"timeout_seconds", "output_bytes", "cpus", "memory_mb", "disk_mb", "pids", "idle_seconds", "max_seconds",
		"background_seconds", "processes", "workspace_mb", "workspace_files"},
	"networks":          {"network", "egress"},
	"deny_connection":   {"rule", "message", "match", "instead", "hidden"},
	"connection_limits": {"upload_mb", "download_mb"},
	"ask_connection":    {"rule", "message", "match", "instead", "hidden", "scopes", "timeout_seconds", "grant_seconds", "quorum"},
}

// checkSpelling lists what would count for nothing, in silence, since a name or a word in
// it is misspelt. The compiler is that of the rules which decide.
func (p *Set) checkSpelling(compiler *ast.Compiler) source.Faults {
	return slices.Concat(misspeltSets(compiler), p.misspeltKeys(), p.misspeltWords()).Sorted()
}

var packageBailiff = ast.MustParseRef("data.bailiff")

// misspeltSets lists rules that add to a set which no rule reads, where one that rules do
// read has almost its name.
func misspeltSets(compiler *ast.Compiler) (faults source.Faults) {
	idle, read := map[string][]*ast.Rule{}, map[string]bool{}
	for _, module := range compiler.Modules {
		for _, rule := range module.Rules {
			name, ok := SetOf(rule)
			switch {
			case isOldExamined(rule) && !isRead(compiler, rule):
				faults = append(faults, source.FaultAt(rule.Location,
					"no rule reads the set examined, which is called _examined now: add to findings"))
			case !ok:
			case isRead(compiler, rule):
				read[name] = true
			default:
				idle[name] = append(idle[name], rule)
			}
		}
	}
	for name, rules := range idle {
		meant := spelling.Nearest(name, keysOf(read), 2)
		if read[name] || meant == "" {
			continue
		}
		wrong := fmt.Sprintf("no rule reads the set %s: want %s, or another name if it is a set of your own", name, meant)
		if meant == "_"+name {
			wrong = fmt.Sprintf("no rule reads the set %s, which is called %s now: add to findings, deny or another set of decision.rego",
				name, meant)
		}
		for _, rule := range rules {
			faults = append(faults, source.FaultAt(rule.Location, wrong))
		}
	}
	return faults
}

// SetOf is the name of the set of package bailiff to which a rule adds. What was examined
// counts as found.
func SetOf(rule *ast.Rule) (name string, ok bool) {
	path := rule.Ref()
	if rule.Head.RuleKind() != ast.MultiValue || !path.HasPrefix(packageBailiff) || len(path) == len(packageBailiff) {
		return "", false
	}
	first, _ := path[len(packageBailiff)].Value.(ast.String)
	if first == "_examined" || first == "examined" { // older policies say it without "_"
		return "findings", true
	}
	if first == "_faults" {
		first = "deny"
	}
	return string(first), len(path) == len(packageBailiff)+1
}

// isOldExamined says whether a rule adds to what was examined by the name that it had.
func isOldExamined(rule *ast.Rule) bool {
	path := rule.Ref()
	return len(path) == len(packageBailiff)+2 && path.HasPrefix(packageBailiff.Append(ast.StringTerm("examined")))
}

// IsContributed says whether what is in a set of package bailiff has a say: objects of
// known keys, or names of variables.
func IsContributed(set string) bool { return contributed[set] != nil || set == "forward_env" }

// isRead says whether a rule of another name may depend on this one.
func isRead(compiler *ast.Compiler, rule *ast.Rule) bool {
	for other := range compiler.Graph.Dependents(rule) {
		if !other.(*ast.Rule).Ref().Equal(rule.Ref()) {
			return true
		}
	}
	return false
}

func keysOf(set map[string]bool) (keys []string) {
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// misspeltKeys lists keys of contributed objects that no rule names and that are almost
// one which the object lacks.
func (p *Set) misspeltKeys() (faults source.Faults) {
	objects, keys := p.objects()
	named := p.words(keys)
	for object, set := range objects {
		var lacking []string
		for _, known := range contributed[set] {
			if object.Get(ast.StringTerm(known)) == nil {
				lacking = append(lacking, known)
			}
		}
		for _, key := range object.Keys() {
			said, ok := key.Value.(ast.String)
			if !ok || named[string(said)] || slices.Contains(contributed[set], string(said)) {
				continue
			}
			if meant := spelling.Nearest(string(said), lacking, len(said)/3+1); meant != "" {
				faults = append(faults, source.FaultAt(key.Location,
					fmt.Sprintf("a member of %s has no key %q that any rule reads, nearest valid key is %q", set, string(said), meant)))
			}
		}
	}
	return faults
}

// objects are those that rules add, as they are written, by their set; and
// their keys.
func (p *Set) objects() (objects map[ast.Object]string, keys map[*ast.Term]bool) {
	objects, keys = map[ast.Object]string{}, map[*ast.Term]bool{}
	for _, module := range p.modules {
		for _, rule := range module.Rules {
			set, ok := SetOf(rule)
			if !ok || contributed[set] == nil {
				continue
			}
			if object, ok := spelledOut(rule.Head.Key, rule.Body).(ast.Object); ok {
				objects[object] = set
				for _, key := range object.Keys() {
					keys[key] = true
				}
			}
		}
	}
	return objects, keys
}

// spelledOut is what a term is, or is said to be in a body.
func spelledOut(term *ast.Term, body ast.Body) ast.Value {
	if _, isVar := term.Value.(ast.Var); !isVar {
		return term.Value
	}
	for _, expr := range body {
		if expr.IsAssignment() && expr.Operand(0).Equal(term) {
			return expr.Operand(1).Value
		}
	}
	return nil
}

// words are all texts in the rules that decide, but for some terms.
func (p *Set) words(without map[*ast.Term]bool) map[string]bool {
	named := map[string]bool{}
	for _, module := range p.modules {
		ast.WalkTerms(module, func(t *ast.Term) bool {
			if word, ok := t.Value.(ast.String); ok && !without[t] {
				named[string(word)] = true
			}
			return false
		})
	}
	return named
}

// misspeltWords lists words to which a rule compares a field of the input that can be
// none of them.
func (p *Set) misspeltWords() (faults source.Faults) {
	compare := func(call []*ast.Term) {
		field, words := compared(call)
		valid := p.enum(field)
		for _, word := range words {
			if said, ok := word.Value.(ast.String); ok && valid != nil && !slices.Contains(valid, string(said)) {
				faults = append(faults, source.FaultAt(word.Location,
					fmt.Sprintf("%s is never %q: %s", field, string(said), spelling.Unknown("word", string(said), valid))))
			}
		}
	}
	for _, module := range p.modules {
		ast.NewGenericVisitor(func(node any) bool {
			switch node := node.(type) {
			case *ast.Expr:
				if node.IsCall() {
					compare(node.Terms.([]*ast.Term))
				}
			case ast.Call:
				compare(node)
			}
			return false
		}).Walk(module)
	}
	return faults
}

// compared is the field and the words that a call compares, if it does.
func compared(call []*ast.Term) (field ast.Ref, words []*ast.Term) {
	if len(call) != 3 {
		return nil, nil
	}
	left, right := call[1], call[2]
	switch call[0].String() {
	case ast.Member.Name:
		words = members(right)
	case ast.Equal.Name, ast.Equality.Name, ast.NotEqual.Name:
		if words = []*ast.Term{right}; !isRef(left) {
			left, words = right, []*ast.Term{left}
		}
	}
	field, _ = left.Value.(ast.Ref)
	return field, words
}

func isRef(t *ast.Term) bool {
	_, ok := t.Value.(ast.Ref)
	return ok
}

// members are those of a set or a list.
func members(t *ast.Term) (all []*ast.Term) {
	collection, ok := t.Value.(interface{ Foreach(func(*ast.Term)) })
	if ok {
		collection.Foreach(func(member *ast.Term) { all = append(all, member) })
	}
	return all
}

// enum are the words that the schema lets a field of the input be; nil where it lets it
// be any.
func (p *Set) enum(field ast.Ref) (words []string) {
	if len(field) == 0 || !field[0].Equal(ast.InputRootDocument) {
		return nil
	}
	root := p.schemas.Get(ast.SchemaRootRef)
	here := resolved(root, root)
	for _, step := range field[1:] {
		name, ok := step.Value.(ast.String)
		if !ok {
			return nil
		}
		properties, _ := here["properties"].(map[string]any)
		here = resolved(root, properties[string(name)])
	}
	valid, _ := here["enum"].([]any)
	for _, one := range valid {
		if word, ok := one.(string); ok {
			words = append(words, word)
		}
	}
	return words
}

// resolved is a schema, or the one of the same document that it refers to.
func resolved(root, schema any) map[string]any {
	here, _ := schema.(map[string]any)
	at, ok := here["$ref"].(string)
	if !ok {
		return here
	}
	here, _ = root.(map[string]any)
	for name := range strings.SplitSeq(strings.TrimPrefix(at, "#/"), "/") {
		here, _ = here[name].(map[string]any)
	}
	return here
}
