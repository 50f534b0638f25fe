package explain

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/policies"
)

const (
	mostFacts = 6
	mostDeep  = 3 // helpers of helpers
	// mostShown bounds each text of an explanation.
	mostShown = 200
)

// adds is what a rule would add: the name in its reason where that is plain, else its
// head as it is written.
func (t *tracer) adds(rule, written *ast.Rule) string {
	set, _ := t.SetOf(rule)
	if name := entryOf(written.Head.Key.Value, "rule"); name != "" {
		return set + " " + name
	}
	return set + " " + oneLine(written.Head.Key.String())
}

// source is a condition as its file has it.
func source(rule *ast.Rule, at int) string {
	text := string(rule.Location.Text)
	from, to := rule.Body[at].Location.Offset-rule.Location.Offset, len(text)
	if at+1 < len(rule.Body) {
		to = rule.Body[at+1].Location.Offset - rule.Location.Offset
	}
	if from < 0 || from > to || to > len(text) {
		return rule.Body[at].String()
	}
	var lines []string
	for line := range strings.Lines(text[from:to]) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	said := oneLine(strings.Join(lines, " "))
	if at+1 == len(rule.Body) && strings.HasSuffix(text, "}") && strings.Count(said, "{") < strings.Count(said, "}") {
		said = strings.TrimSpace(strings.TrimSuffix(said, "}"))
	}
	return strings.TrimSuffix(said, ";")
}

// facts are the parts of the input that a condition names, with their values.
func (t *tracer) facts(condition *ast.Expr) (facts []string) {
	ast.WalkRefs(condition, func(ref ast.Ref) bool {
		if !ref.HasPrefix(ast.InputRootRef) || len(ref) == 1 {
			return false
		}
		named := ref.ConstantPrefix()
		value, err := t.Input.Find(named[1:])
		if err != nil {
			facts = append(facts, named.String()+" is missing")
			return false
		}
		facts = append(facts, named.String()+" is "+t.shown(value))
		return false
	})
	return facts
}

// behind is what the helpers look at that a condition names.
func (t *tracer) behind(rule *ast.Rule, at int) (facts []string) {
	var follow func(part any, depth int)
	follow = func(part any, depth int) {
		ast.WalkRefs(part, func(ref ast.Ref) bool {
			for _, helper := range t.Compiler.GetRulesExact(ref.ConstantPrefix()) {
				for _, condition := range t.written(helper).Body {
					facts = append(facts, t.facts(condition)...)
				}
				if depth < mostDeep {
					follow(helper.Body, depth+1)
				}
			}
			return false
		})
	}
	for _, expr := range rule.Body {
		if t.conditionOf(rule, expr) == at {
			follow(expr, 1)
		}
	}
	return facts
}

// maker is the function that makes what a compiled rule adds, with its arguments.
func maker(rule *ast.Rule) (function ast.Ref, arguments []*ast.Term) {
	for _, expr := range rule.Body {
		given := expr.Operands()
		if last := len(given) - 1; expr.IsCall() && last >= 0 && given[last].Equal(rule.Head.Key) {
			return expr.Operator(), slices.Clone(given[:last])
		}
	}
	return nil, nil
}

// named is the name in the reason that a rule would give, with the row of the tables that
// has it; empty if that is not known.
func (t *tracer) named(ctx context.Context, rule *ast.Rule, f failure) (name, row string) {
	if name := entryOf(t.written(rule).Head.Key.Value, "rule"); name != "" {
		return name, ""
	}
	for _, function := range t.Compiler.GetRulesExact(f.maker) {
		head := t.written(function).Head
		object, ok := written(head.Value.Value).(ast.Object)
		if !ok || object.Get(ast.StringTerm("rule")) == nil {
			continue
		}
		switch entry := object.Get(ast.StringTerm("rule")).Value.(type) {
		case ast.String:
			return string(entry), ""
		case ast.Ref:
			at := entry.Copy()
			for i, part := range at {
				if n := slices.IndexFunc(head.Args, part.Equal); n >= 0 && n < len(f.arguments) {
					at[i] = f.arguments[n]
				}
			}
			return t.ruleName(ctx, at), strings.TrimPrefix(at[:len(at)-1].String(), "data.bailiff.")
		}
	}
	return "", ""
}

// written is the object that a function spells out, with more added to it or not.
func written(value ast.Value) ast.Value {
	if call, ok := value.(ast.Call); ok && len(call) > 1 && call[0].String() == ast.ObjectUnion.Name {
		return call[1].Value
	}
	return value
}

// ruleName is a text of the tables; empty if there is none.
func (t *tracer) ruleName(ctx context.Context, at ast.Ref) string {
	path, err := storage.NewPathForRef(at)
	if err != nil {
		return ""
	}
	value, err := storage.ReadOne(ctx, t.Store, path)
	text, ok := value.(ast.String)
	if err != nil || !ok {
		return ""
	}
	return string(text)
}

// isShipped tells rules that came with bailiff from those that a team added or changed.
func isShipped(rule *ast.Rule) bool {
	text, err := policies.FS.ReadFile(path.Base(rule.Location.File))
	return err == nil && bytes.Contains(text, rule.Location.Text)
}

// locals are the variables of a part of a rule that have values, by the names that
// they have in its file.
func (t *tracer) locals(e topdown.Event, part any) (facts []string) {
	ast.WalkVars(part, func(v ast.Var) bool {
		name, ok := t.Compiler.RewrittenVars[v]
		if !ok || name.IsWildcard() || name.IsGenerated() {
			return false
		}
		if value := e.Plug(ast.NewTerm(v)).Value; ast.IsConstant(value) {
			facts = append(facts, string(name)+" is "+t.shown(value))
		}
		return false
	})
	return facts
}

// wants is the value that a comparison with one wants.
func wants(condition *ast.Expr) string {
	if condition.Negated || !condition.IsCall() || len(condition.Operands()) != 2 {
		return ""
	}
	constant := func(t *ast.Term) bool { return ast.IsConstant(t.Value) }
	at := slices.IndexFunc(condition.Operands(), constant)
	if at < 0 {
		return ""
	}
	value := oneLine(condition.Operand(at).Value.String())
	switch condition.Operator().String() {
	case ast.Equal.Name, ast.Equality.Name:
		return value
	case ast.Member.Name:
		return "one of " + value
	}
	return ""
}

func entryOf(value ast.Value, key string) string {
	object, ok := value.(ast.Object)
	if !ok {
		return ""
	}
	entry := object.Get(ast.StringTerm(key))
	if entry == nil {
		return ""
	}
	text, _ := entry.Value.(ast.String)
	return string(text)
}

// textsOf are the texts of a list that an object has.
func textsOf(value ast.Value, key string) (texts []string) {
	object, ok := value.(ast.Object)
	if !ok || object.Get(ast.StringTerm(key)) == nil {
		return nil
	}
	list, ok := object.Get(ast.StringTerm(key)).Value.(interface{ Foreach(func(*ast.Term)) })
	if !ok {
		return nil
	}
	list.Foreach(func(one *ast.Term) {
		if text, ok := one.Value.(ast.String); ok {
			texts = append(texts, string(text))
		}
	})
	return texts
}

// shown is a value as JSON, without secrets and on one line.
func (t *tracer) shown(value ast.Value) string {
	clean, err := ast.Transform(ast.NewGenericTransformer(func(part any) (any, error) {
		if text, ok := part.(ast.String); ok {
			return ast.String(t.Scrub([]byte(text))), nil
		}
		return part, nil
	}), ast.NewTerm(value).Copy().Value) // transforming changes what it is given
	if err != nil {
		return "not shown: " + err.Error()
	}
	return oneLine(clean.(ast.Value).String())
}

// oneLine is the beginning of a text, on one line.
func oneLine(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if begins := bailiff.Beginning(line, mostShown); begins != line {
		return begins + "…"
	}
	return line
}

// firstFacts are the first of some facts, each once.
func firstFacts(facts []string) []string {
	var all []string
	for _, fact := range facts {
		if !slices.Contains(all, fact) && len(all) < mostFacts {
			all = append(all, fact)
		}
	}
	return all
}
