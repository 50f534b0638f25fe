// Package policyset makes policies of their files: it parses and compiles them, and finds what is wrong with them beyond what a
// compiler finds.
//
// Here: data as OPA reads it, except that a key which an object has twice is a fault; compiling as "opa check --strict" with the
// schema of the input document; tables that rules look up and no data has, names and words that count for nothing since they are
// misspelt, rules by names that they had before, and masks of the decision log that fit no event.
//
// Promised: policies cannot reach the network or learn about the process. One that uses http.send, net.* or opa.runtime does not
// compile.
//
// Not here: reading files (package source), running tests (package regotest), and evaluating.
package policyset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/policies"
)

// Entrypoint is the document that is asked for a decision.
var Entrypoint = ast.MustParseRef("data.bailiff.decision")

// Capabilities are OPA's own, without what reaches the network or tells about
// the process: a policy that uses those does not compile. Schemas are not
// fetched either.
var Capabilities = sync.OnceValue(func() *ast.Capabilities {
	all := ast.CapabilitiesForThisVersion()
	all.Builtins = slices.DeleteFunc(all.Builtins, func(b *ast.Builtin) bool {
		return b.Name == "http.send" || b.Name == "opa.runtime" ||
			strings.HasPrefix(b.Name, "net.") && b.Name != "net.cidr_contains"
	})
	all.AllowNet = []string{}
	return all
})

// Set is one set of policies, read and parsed.
type Set struct {
	Files []source.File
	// modules are those that decide, tests those in files named *_test.rego; nil where those were left out.
	modules, tests map[string]*ast.Module
	Data           map[string]any
	schemas        *ast.SchemaSet
	schemaName     string // of the file that they are from
	// Bundles are the revisions that bundles give themselves, by their archives.
	Bundles map[string]string
	// released: the program's own policies. Proven: policies that passed every check, on this machine or before the release.
	released, Proven bool
	// contents are those of files that were read before, and then of these.
	contents contents
}

// Load reads and parses what lies at the paths, in one of the ways to read.
func Load(read func(paths []string) ([]source.File, source.Faults), paths []string) (*Set, source.Faults) {
	files, faults := read(paths)
	if len(faults) > 0 {
		return nil, faults.Sorted()
	}
	return Parse(files)
}

// Parse parses files with their tests.
func Parse(files []source.File) (*Set, source.Faults) {
	return newSet(files, &Set{tests: map[string]*ast.Module{}})
}

// ParseUntested leaves the tests out.
func ParseUntested(files []source.File) (*Set, source.Faults) { return newSet(files, &Set{}) }

// ParseReleased parses the program's own policies, without their tests.
func ParseReleased(files []source.File) (*Set, source.Faults) {
	return newSet(files, &Set{released: true, Proven: true})
}

// ParseProven parses policies that passed every check before, without their tests.
func ParseProven(files []source.File) (*Set, source.Faults) {
	return newSet(files, &Set{Proven: true})
}

func newSet(files []source.File, p *Set) (*Set, source.Faults) {
	p.Files, p.modules, p.Data, p.Bundles = files, map[string]*ast.Module{}, map[string]any{}, map[string]string{}
	var faults source.Faults
	for n, c := range p.read(files) {
		faults = append(faults, p.add(files[n], c)...)
	}
	if p.schemas == nil && !p.Proven {
		faults = append(faults, p.addShippedSchema()...)
	}
	if len(p.modules) == 0 && len(faults) == 0 {
		faults = source.Faults{{Message: "there are no policies: want at least one .rego file with a rule " + Entrypoint.String()}}
	}
	return p, faults.Sorted()
}

// content is what a file holds: a module of Rego or a document of data. Schemas and manifests have neither. Nothing of it changes.
type content struct {
	module   *ast.Module
	document any
	faults   source.Faults
}

// contents are those of files, by their names and texts.
type contents map[fileText]content

// Parser parses sets of files one after the other, and of each only what the one before did not have.
type Parser struct{ last contents }

// Parse parses the next set.
func (p *Parser) Parse(files []source.File) (*Set, source.Faults) {
	if p.last == nil {
		p.last = contents{}
	}
	set, faults := newSet(files, &Set{tests: map[string]*ast.Module{}, contents: p.last})
	p.last = set.contents
	return set, faults
}

type fileText struct{ name, text string }

// read reads what files hold that is not known, on all processors.
func (p *Set) read(files []source.File) []content {
	all := make([]content, len(files))
	var taken atomic.Int64
	var reading sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		reading.Go(func() {
			for n := taken.Add(1) - 1; n < int64(len(files)); n = taken.Add(1) - 1 {
				known := false
				if all[n], known = p.contents[fileText{files[n].Name, string(files[n].Text)}]; !known {
					all[n] = p.contentOf(files[n])
				}
			}
		})
	}
	reading.Wait()
	if p.contents != nil {
		p.contents = contents{}
		for n, f := range files {
			p.contents[fileText{f.Name, string(f.Text)}] = all[n]
		}
	}
	return all
}

func (p *Set) contentOf(f source.File) (c content) {
	switch {
	case f.IsManifest() || f.IsSchema() || f.IsTest() && p.tests == nil:
	case f.IsData():
		c.document, c.faults = p.documentOf(f)
	default:
		var err error
		c.module, err = ast.ParseModuleWithOpts(f.Name, string(f.Text), ast.ParserOptions{
			RegoVersion: ast.RegoV1, ProcessAnnotation: true, Capabilities: Capabilities(),
		})
		if err != nil {
			c.faults = source.FaultsOf(err, f.Name)
		}
	}
	return c
}

func (p *Set) documentOf(f source.File) (document any, faults source.Faults) {
	read, language := util.UnmarshalJSON, "JSON"
	if path.Ext(f.Place) == ".yaml" {
		if read, language = unmarshalYAML, "YAML"; p.released {
			read = yaml.Unmarshal
		}
	}
	if err := read(f.Text, &document); err != nil {
		return nil, source.Faults{{File: f.Name, Line: source.LineOf(err, f.Text),
			Message: fmt.Sprintf("this is no valid %s: %v", language, err)}}
	}
	return document, nil
}

func (p *Set) add(f source.File, c content) source.Faults {
	switch {
	case f.IsManifest():
		revision, faults := source.RevisionIn(f)
		p.Bundles[f.Archive] = revision
		return faults
	case f.IsSchema() && p.Proven:
	case f.IsSchema():
		return p.addSchema(f)
	case len(c.faults) > 0:
		return c.faults
	case f.IsData():
		return p.addData(f, copyOf(c.document))
	case c.module == nil:
	case f.IsTest():
		p.tests[f.Name] = c.module
	default:
		p.modules[f.Name] = c.module
	}
	return nil
}

// addData puts a document where stock OPA would put it: at the root of data for
// a file in the folder that was configured, below that for one in a folder of it.
func (p *Set) addData(f source.File, document any) source.Faults {
	if folder := path.Dir(f.Place); folder != "." {
		for _, name := range slices.Backward(strings.Split(folder, "/")) {
			document = map[string]any{name: document}
		}
	}
	object, ok := document.(map[string]any)
	if !ok {
		return source.Faults{{File: f.Name, Line: 1, Message: "the document is not an object"}}
	}
	if at := merge(p.Data, object); at != nil {
		return source.Faults{p.twice(f, at)}
	}
	return nil
}

// twice is that a file defines what one before it defined: a row of a table is changed where it stands.
func (p *Set) twice(f source.File, at []string) source.Fault {
	line, _ := f.Locate(at)
	said := "another file of data already defines " + strings.Join(at, ".")
	for _, other := range p.Files {
		if other.Name == f.Name {
			break
		}
		if there, found := other.Locate(at); other.IsData() && found == len(at) {
			said = fmt.Sprintf("%s is defined in %s:%d already; change it there, or take it out of one of the two files",
				strings.Join(at, "."), other.Name, there)
		}
	}
	return source.Fault{File: f.Name, Line: line, Message: said}
}

// copyOf is a value of data to which others may be added.
func copyOf(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	all := make(map[string]any, len(object))
	for name, one := range object {
		all[name] = copyOf(one)
	}
	return all
}

// unmarshalYAML reads as OPA does, except that a key which an object has twice is
// a fault: an entry in a table must not undo another one in silence. OPA is asked only about what it may read in another way.
func unmarshalYAML(text []byte, to any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var strict any
	if err := decoder.Decode(&strict); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	read, same := asOPAReads(strict)
	if into, ok := to.(*any); ok && same && errors.Is(decoder.Decode(new(any)), io.EOF) {
		*into = read
		return nil
	}
	return util.Unmarshal(text, to)
}

// asOPAReads is a value of YAML with the types that JSON has. Not the same is what OPA reads in another way: floating point, dates,
// keys that are no text, text that is no UTF-8.
func asOPAReads(value any) (read any, same bool) {
	switch v := value.(type) {
	case nil, bool:
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case int:
		return json.Number(strconv.Itoa(v)), true
	case []any:
		for i := range v {
			if v[i], same = asOPAReads(v[i]); !same {
				return nil, false
			}
		}
		return v, true
	case map[string]any:
		for key := range v {
			if v[key], same = asOPAReads(v[key]); !same || !utf8.ValidString(key) {
				return nil, false
			}
		}
		return v, true
	}
	return nil, false
}

// merge adds the entries of an object to another one; where both have one that
// is not an object in both, it says which.
func merge(into, from map[string]any) (conflict []string) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		there, taken := into[name]
		if !taken {
			into[name] = from[name]
			continue
		}
		old, isOld := there.(map[string]any)
		added, isAdded := from[name].(map[string]any)
		if !isOld || !isAdded {
			return []string{name}
		}
		if at := merge(old, added); at != nil {
			return append([]string{name}, at...)
		}
	}
	return nil
}

func (p *Set) addSchema(f source.File) source.Faults {
	var schema any
	if err := util.UnmarshalJSON(f.Text, &schema); err != nil {
		return source.Faults{{File: f.Name, Line: source.LineOf(err, f.Text), Message: "this is no valid JSON: " + err.Error()}}
	}
	if p.schemas != nil {
		return source.Faults{{File: f.Name, Message: "there is a second schema of the input document, beside " + p.schemaName +
			": take away the one that came with a copy of the policies"}}
	}
	p.schemaName = f.Name
	p.schemas = ast.NewSchemaSet()
	p.schemas.Put(ast.SchemaRootRef, schema)
	return nil
}

func (p *Set) addShippedSchema() source.Faults {
	const place = "schema/input.json"
	text, err := policies.FS.ReadFile(place)
	if err != nil {
		return source.Faults{source.Unreadable(place, err)}
	}
	return p.addSchema(source.File{Name: place, Place: place, Text: text})
}

// All are the modules that decide, and the tests.
func (p *Set) All() map[string]*ast.Module {
	all := maps.Clone(p.modules)
	maps.Copy(all, p.tests)
	return all
}

// Store holds the data the way evaluation wants it, so that a look-up in a table
// converts nothing.
func (p *Set) Store() (storage.Store, source.Faults) {
	data, err := ast.InterfaceToValue(p.Data)
	if err != nil {
		return nil, source.Faults{{Message: fmt.Sprintf("reading data: %v", err)}}
	}
	return inmem.NewFromASTObject(data.(ast.Object)), nil
}

// Compiler is set up as for "opa check --strict --schema". With print, what
// tests print is kept; without, print costs nothing.
func (p *Set) Compiler(print bool) *ast.Compiler {
	if p.Proven {
		return p.PlainCompiler(print).WithSkipStages(onlyChecks...)
	}
	return p.PlainCompiler(print).WithStrict(true).WithSchemas(p.schemas)
}

// onlyChecks are the steps of compiling that change nothing of policies without faults.
var onlyChecks = []ast.StageID{
	ast.StageCheckUnusedImports, ast.StageCheckKeywordOverrides, ast.StageCheckDuplicateImports, ast.StageCheckVoidCalls,
	ast.StageCheckRuleConflicts, ast.StageCheckUndefinedFuncs, ast.StageCheckSafetyRuleHeads, ast.StageCheckRecursion,
	ast.StageCheckTypes, ast.StageCheckUnsafeBuiltins, ast.StageCheckDeprecatedBuiltins,
}

// PlainCompiler is set up as for "opa test".
func (p *Set) PlainCompiler(print bool) *ast.Compiler {
	return ast.NewCompiler().
		SetErrorLimit(0).
		WithCapabilities(Capabilities()).
		WithEnablePrintStatements(print).
		WithUseTypeCheckAnnotations(true).
		WithPathConflictsCheck(p.defines)
}

// defines says whether data has something at a path: a rule there would be in conflict.
func (p *Set) defines(at []string) (bool, error) {
	var here any = p.Data
	for _, name := range at {
		object, ok := here.(map[string]any)
		if !ok {
			return true, nil
		}
		if here, ok = object[name]; !ok {
			return false, nil
		}
	}
	return true, nil
}

// Check compiles everything, tests too, as "opa check --strict" would. Compiled holds what decides, without what it prints, and is nil
// where it has faults.
func (p *Set) Check(ctx context.Context, compiled *ast.Compiler) source.Faults {
	if p.tests == nil {
		whole, faults := Parse(p.Files)
		if len(faults) > 0 {
			return faults
		}
		return whole.Check(ctx, compiled)
	}
	if compiled == nil || len(p.tests) > 0 || slices.ContainsFunc(p.Files, source.File.MayPrint) {
		compiled = compiledBy(func() *ast.Compiler { return p.Compiler(true) }, p.All())
		if compiled.Failed() {
			return FaultsOf(compiled)
		}
	}
	return p.OldNames(compiled)
}

// CheckDeciding is [Set.Check] without the tests.
func (p *Set) CheckDeciding(compiled *ast.Compiler) source.Faults {
	if compiled == nil || slices.ContainsFunc(p.Files, func(f source.File) bool { return !f.IsTest() && f.MayPrint() }) {
		compiled = compiledBy(func() *ast.Compiler { return p.Compiler(true) }, p.modules)
		if compiled.Failed() {
			return FaultsOf(compiled)
		}
	}
	return p.OldNames(compiled)
}

// Compile returns a compiler that holds what decides, and nothing else but, if that is to
// be explained, the modules as they are written.
func (p *Set) Compile(explained bool) (*ast.Compiler, source.Faults) {
	compiler := compiledBy(func() *ast.Compiler { return p.Compiler(false).WithKeepModules(explained) }, p.modules)
	if compiler.Failed() {
		return nil, FaultsOf(compiler)
	}
	if len(compiler.GetRulesExact(Entrypoint)) == 0 {
		return nil, source.Faults{{Message: "no file defines the rule " + Entrypoint.String()}}
	}
	return compiler, nil
}
