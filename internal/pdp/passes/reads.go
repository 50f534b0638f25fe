package passes

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
)

// Reads knows what the rules of compiled policies can read.
type Reads struct {
	compiler *ast.Compiler
	build    Key

	rules    map[*ast.Rule]*ruleReads
	numbered []*ruleReads   // by their numbers
	paths    map[string]int // the numbers of what rules name of the data, by names
	places   []dataPath     // the same, by numbers
	inOrder  []digest       // the rules, and then the data
}

// digest is that of a rule, or of a part of the data.
type digest struct {
	number int
	of     Key
	isData bool
}

// ruleReads is what one rule reads.
type ruleReads struct {
	number int
	text   Key    // of the rule itself
	rules  bitset // that it may reach, itself included
	data   bitset // that these name
	varies bool   // what these evaluate to is not known by what they read
}

// NewReads looks at compiled policies and their data, which is as JSON or YAML has it. The compiler's rules are not
// recursive.
func NewReads(compiler *ast.Compiler, data map[string]any) (*Reads, error) {
	build, err := Build()
	if err != nil {
		return nil, err
	}
	r := &Reads{compiler: compiler, build: build, rules: map[*ast.Rule]*ruleReads{}, paths: map[string]int{}}
	for _, module := range compiler.Modules {
		for _, rule := range module.Rules {
			r.of(rule, data)
		}
	}
	for n, one := range r.numbered {
		r.inOrder = append(r.inOrder, digest{number: n, of: one.text})
	}
	slices.SortFunc(r.inOrder, func(a, b digest) int {
		return cmp.Or(cmp.Compare(number(a.isData), number(b.isData)), slices.Compare(a.of[:], b.of[:]))
	})
	return r, nil
}

// Key is the key of a test, by the reference of its rules; false where its reads are not bounded.
func (r *Reads) Key(test ast.Ref) (key Key, ok bool) {
	var rules, data bitset
	reached := r.compiler.GetRulesDynamicWithOpts(test, ast.RulesOptions{IncludeHiddenModules: true})
	if len(reached) == 0 {
		return key, false
	}
	for _, rule := range reached {
		one := r.rules[rule]
		if one.varies {
			return key, false
		}
		rules, data = rules.with(one.rules), data.with(one.data)
	}
	sum := sha256.New()
	_, _ = sum.Write(r.build[:])
	writeText(sum, test.String())
	for _, one := range r.inOrder {
		if !one.isData && rules.has(one.number) || one.isData && data.has(one.number) {
			_, _ = sum.Write(one.of[:])
		}
	}
	return Key(sum.Sum(nil)), true
}

// Reach says whether a test may reach any of the rules at a reference.
func (r *Reads) Reach(test, rules ast.Ref) bool {
	for _, from := range r.compiler.GetRulesDynamicWithOpts(test, ast.RulesOptions{IncludeHiddenModules: true}) {
		for _, to := range r.compiler.GetRulesExact(rules) {
			if r.rules[from].rules.has(r.rules[to].number) {
				return true
			}
		}
	}
	return false
}

// of is what a rule reads, with all that it may reach.
func (r *Reads) of(rule *ast.Rule, data map[string]any) *ruleReads {
	if known := r.rules[rule]; known != nil {
		return known
	}
	d := &digester{sum: sha256.New(), locals: map[ast.Var]int{}}
	d.rule(rule)
	one := &ruleReads{number: len(r.numbered), text: Key(d.sum.Sum(nil)), varies: d.varies}
	r.rules[rule], r.numbered = one, append(r.numbered, one)
	one.rules = one.rules.withNumber(one.number)
	for _, path := range d.data {
		one.data = one.data.withNumber(r.numberOf(path, data))
	}
	openly, replaced := r.users(d)
	for used := range r.compiler.Graph.Dependencies(rule) {
		used := used.(*ast.Rule)
		if _, only := replaced[used]; only && !openly[used] {
			continue
		}
		one.add(r.of(used, data))
	}
	for used, all := range replaced {
		for _, paths := range all {
			one.add(r.without(r.of(used, data), paths))
		}
	}
	if rule.Else != nil {
		one.add(r.of(rule.Else, data)) // the graph has what it uses as its own
	}
	return one
}

// users are the rules that a rule reaches by its own references: with the data as they are, and with paths of them replaced.
// A rule without any "with" has none of them: all that the compiler's graph says counts for it.
func (r *Reads) users(d *digester) (openly map[*ast.Rule]bool, replaced map[*ast.Rule][][]dataPath) {
	if !d.replaces {
		return nil, nil
	}
	openly, replaced = map[*ast.Rule]bool{}, map[*ast.Rule][][]dataPath{}
	for _, use := range d.uses {
		for _, rule := range r.compiler.GetRulesDynamicWithOpts(use.ref, ast.RulesOptions{IncludeHiddenModules: true}) {
			for ; rule != nil; rule = rule.Else { // the graph has each "else" as a rule
				if len(use.replaced) == 0 {
					openly[rule] = true
					continue
				}
				replaced[rule] = append(replaced[rule], use.replaced)
			}
		}
	}
	return openly, replaced
}

// without is what a rule reads where paths of the data are replaced.
func (r *Reads) without(reads *ruleReads, replaced []dataPath) *ruleReads {
	left := *reads
	left.data = slices.Clone(reads.data)
	for n, place := range r.places {
		if left.data.has(n) && place.isBelow(replaced) {
			left.data[n/64] &^= 1 << (n % 64)
		}
	}
	return &left
}

func (r *ruleReads) add(other *ruleReads) {
	r.rules, r.data, r.varies = r.rules.with(other.rules), r.data.with(other.data), r.varies || other.varies
}

// numberOf is the number of what a path leads to in the data.
func (r *Reads) numberOf(path dataPath, data map[string]any) int {
	name := path.name()
	if known, ok := r.paths[name]; ok {
		return known
	}
	n := len(r.paths)
	r.paths[name] = n
	r.places = append(r.places, path)
	r.inOrder = append(r.inOrder, digest{n, path.digest(data), true})
	return n
}

// digester writes a rule so that two rules are written alike only if they mean the same. The numbers in the names of local
// variables, which differ from one compiling to the next, do not matter.
type digester struct {
	sum    hash.Hash
	locals map[ast.Var]int
	data   []dataPath // that are read and not replaced
	uses   []use
	varies bool

	replaces bool       // there is a "with"
	replaced []dataPath // what "with" replaces where the digester is
}

// use is a reference to data, or to a rule, with the paths of data that are replaced for it.
type use struct {
	ref      ast.Ref
	replaced []dataPath
}

// These begin what is written of a node, so that no two kinds are written alike.
const (
	tagRule = iota
	tagElse
	tagHead
	tagExpr
	tagEvery
	tagWith
	tagTerms
	tagNull
	tagBoolean
	tagNumber
	tagString
	tagVar
	tagLocal
	tagRef
	tagArray
	tagObject
	tagSet
	tagCall
	tagComprehension
	tagTemplate
	tagNothing
)

func (d *digester) tag(tag byte, counts ...int) {
	text := []byte{tag}
	for _, n := range counts {
		text = append(text, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	_, _ = d.sum.Write(text)
}

func (d *digester) text(tag byte, text string) {
	d.tag(tag)
	writeText(d.sum, text)
}

func (d *digester) rule(rule *ast.Rule) {
	d.tag(tagRule, number(rule.Default))
	d.ref(rule.Ref())
	d.head(rule.Head)
	d.body(rule.Body)
	if rule.Else != nil {
		d.tag(tagElse)
		d.rule(rule.Else)
	}
}

func (d *digester) head(head *ast.Head) {
	d.tag(tagHead, int(head.DocKind()), int(head.RuleKind()))
	d.ref(head.Reference)
	d.terms(head.Args)
	d.term(head.Key)
	d.term(head.Value)
}

func (d *digester) body(body ast.Body) {
	d.tag(tagTerms, len(body))
	for _, expr := range body {
		d.expr(expr)
	}
}

func (d *digester) expr(expr *ast.Expr) {
	d.tag(tagExpr, number(expr.Negated), len(expr.With))
	outside := d.replaced
	for _, with := range expr.With {
		d.replaces = true
		if path, ok := replacedPath(with.Target); ok {
			d.replaced = append(slices.Clip(d.replaced), path)
		}
	}
	switch terms := expr.Terms.(type) {
	case *ast.Term:
		d.term(terms)
	case []*ast.Term:
		d.terms(terms)
	case *ast.Every:
		d.tag(tagEvery)
		d.terms([]*ast.Term{terms.Key, terms.Value, terms.Domain})
		d.body(terms.Body)
	default:
		d.varies = true // a kind that is not known here
	}
	d.replaced = outside // the values are those of outside
	for _, with := range expr.With {
		d.tag(tagWith)
		d.target(with.Target)
		d.term(with.Value)
	}
}

// target writes what a "with" replaces, which is not read.
func (d *digester) target(target *ast.Term) {
	data, uses := len(d.data), len(d.uses)
	d.term(target)
	d.data, d.uses = d.data[:data], d.uses[:uses]
}

// replacedPath is the path of data that a "with" replaces; false where it replaces something else.
func replacedPath(target *ast.Term) (path dataPath, ok bool) {
	ref, _ := target.Value.(ast.Ref)
	if len(ref) == 0 || !ref[0].Equal(ast.DefaultRootDocument) {
		return nil, false
	}
	path = pathOf(ref)
	return path, len(path) == len(ref)-1
}

func (d *digester) terms(terms []*ast.Term) {
	d.tag(tagTerms, len(terms))
	for _, term := range terms {
		d.term(term)
	}
}

func (d *digester) term(term *ast.Term) {
	if term == nil {
		d.tag(tagNothing)
		return
	}
	switch v := term.Value.(type) {
	case ast.Null:
		d.tag(tagNull)
	case ast.Boolean:
		d.tag(tagBoolean, number(bool(v)))
	case ast.Number:
		d.text(tagNumber, string(v))
	case ast.String:
		d.text(tagString, string(v))
	case ast.Var:
		d.variable(v)
	case ast.Ref:
		d.ref(v)
	default:
		d.composite(term.Value)
	}
}

// composite writes a value that is made of others.
func (d *digester) composite(value ast.Value) {
	switch v := value.(type) {
	case *ast.Array:
		d.tag(tagArray, v.Len())
		v.Foreach(d.term)
	case ast.Set:
		d.tag(tagSet, v.Len())
		v.Foreach(d.term)
	case ast.Object:
		d.tag(tagObject, v.Len())
		v.Foreach(func(key, value *ast.Term) {
			d.term(key)
			d.term(value)
		})
	case ast.Call:
		d.tag(tagCall)
		d.terms(v)
	case *ast.ArrayComprehension:
		d.comprehension(tagArray, v.Body, v.Term)
	case *ast.SetComprehension:
		d.comprehension(tagSet, v.Body, v.Term)
	case *ast.ObjectComprehension:
		d.comprehension(tagObject, v.Body, v.Key, v.Value)
	case *ast.TemplateString:
		d.template(v)
	default:
		d.varies = true // a kind that is not known here
	}
}

func (d *digester) comprehension(kind int, body ast.Body, terms ...*ast.Term) {
	d.tag(tagComprehension, kind)
	d.terms(terms)
	d.body(body)
}

func (d *digester) template(t *ast.TemplateString) {
	d.tag(tagTemplate, len(t.Parts), number(t.MultiLine))
	for _, part := range t.Parts {
		switch part := part.(type) {
		case *ast.Term:
			d.term(part)
		case *ast.Expr:
			d.expr(part)
		default:
			d.varies = true // a kind that is not known here
		}
	}
}

func (d *digester) variable(name ast.Var) {
	if !name.IsGenerated() && !name.IsWildcard() {
		d.text(tagVar, string(name))
		d.varies = d.varies || name.Equal(ast.DefaultRootDocument.Value) // a word for all there is
		return
	}
	if _, known := d.locals[name]; !known {
		d.locals[name] = len(d.locals)
	}
	d.tag(tagLocal, d.locals[name])
}

func (d *digester) ref(ref ast.Ref) {
	d.tag(tagRef, len(ref))
	for n, part := range ref {
		if name, ok := part.Value.(ast.Var); ok && n == 0 && name.Equal(ast.DefaultRootDocument.Value) {
			d.text(tagVar, string(name))
			d.use(ref)
			continue
		}
		d.term(part)
	}
	d.varies = d.varies || dependencies.Varies(ref)
}

// use notes a reference to data or a rule.
func (d *digester) use(ref ast.Ref) {
	d.uses = append(d.uses, use{ref, d.replaced})
	if path := pathOf(ref); !path.isBelow(d.replaced) {
		d.data = append(d.data, path)
	}
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

func writeText(sum hash.Hash, text string) {
	n := len(text)
	_, _ = sum.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	_, _ = sum.Write([]byte(text))
}

// bitset is a set of numbers. Nothing of it changes.
type bitset []uint64

func (b bitset) has(n int) bool { return n/64 < len(b) && b[n/64]&(1<<(n%64)) != 0 }

func (b bitset) withNumber(n int) bitset {
	one := make(bitset, n/64+1)
	one[n/64] = 1 << (n % 64)
	return b.with(one)
}

func (b bitset) with(other bitset) bitset {
	all := make(bitset, max(len(b), len(other)))
	copy(all, b)
	for i, word := range other {
		all[i] |= word
	}
	return all
}
