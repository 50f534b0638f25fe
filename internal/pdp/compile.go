package pdp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
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

	"github.com/bailiff-dev/bailiff/policies"
)

// entrypoint is the document that is asked for a decision.
var entrypoint = ast.MustParseRef("data.bailiff.decision")

// capabilities are OPA's own, without what reaches the network or tells about
// the process: a policy that uses those does not compile. Schemas are not
// fetched either.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	all := ast.CapabilitiesForThisVersion()
	all.Builtins = slices.DeleteFunc(all.Builtins, func(b *ast.Builtin) bool {
		return b.Name == "http.send" || b.Name == "opa.runtime" ||
			strings.HasPrefix(b.Name, "net.") && b.Name != "net.cidr_contains"
	})
	all.AllowNet = []string{}
	return all
})

// parsed is one set of policies, read and parsed.
type parsed struct {
	files []file
	// modules are those that decide, tests those in files named *_test.rego; nil where those were left out.
	modules, tests map[string]*ast.Module
	data           map[string]any
	schemas        *ast.SchemaSet
	schemaName     string // of the file that they are from
	// bundles are the revisions that bundles give themselves, by their archives.
	bundles map[string]string
	// released: the program's own policies. proven: policies that passed every check, on this machine or before the release.
	released, proven bool
	// contents are those of files that were read before, and then of these.
	contents contents
}

// load reads and parses what lies at the paths, in one of the ways to read.
func load(read func(paths []string) ([]file, Faults), paths []string) (*parsed, Faults) {
	files, faults := read(paths)
	if len(faults) > 0 {
		return nil, faults.sorted()
	}
	return parse(files)
}

func parse(files []file) (*parsed, Faults) {
	return newParsed(files, &parsed{tests: map[string]*ast.Module{}})
}

// parseUntested leaves the tests out.
func parseUntested(files []file) (*parsed, Faults) { return newParsed(files, &parsed{}) }

// parseReleased parses the program's own policies, without their tests.
func parseReleased(files []file) (*parsed, Faults) {
	return newParsed(files, &parsed{released: true, proven: true})
}

// parseProven parses policies that passed every check before, without their tests.
func parseProven(files []file) (*parsed, Faults) { return newParsed(files, &parsed{proven: true}) }

func newParsed(files []file, p *parsed) (*parsed, Faults) {
	p.files, p.modules, p.data, p.bundles = files, map[string]*ast.Module{}, map[string]any{}, map[string]string{}
	var faults Faults
	for n, c := range p.read(files) {
		faults = append(faults, p.add(files[n], c)...)
	}
	if p.schemas == nil && !p.proven {
		faults = append(faults, p.addShippedSchema()...)
	}
	if len(p.modules) == 0 && len(faults) == 0 {
		faults = Faults{{Message: "there are no policies: want at least one .rego file with a rule " + entrypoint.String()}}
	}
	return p, faults.sorted()
}

// content is what a file holds: a module of Rego or a document of data. Schemas and manifests have neither. Nothing of it changes.
type content struct {
	module   *ast.Module
	document any
	faults   Faults
}

// contents are those of files, by their names and texts.
type contents map[fileText]content

type fileText struct{ name, text string }

// read reads what files hold that is not known, on all processors.
func (p *parsed) read(files []file) []content {
	all := make([]content, len(files))
	var taken atomic.Int64
	var reading sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		reading.Go(func() {
			for n := taken.Add(1) - 1; n < int64(len(files)); n = taken.Add(1) - 1 {
				known := false
				if all[n], known = p.contents[fileText{files[n].name, string(files[n].text)}]; !known {
					all[n] = p.contentOf(files[n])
				}
			}
		})
	}
	reading.Wait()
	if p.contents != nil {
		p.contents = contents{}
		for n, f := range files {
			p.contents[fileText{f.name, string(f.text)}] = all[n]
		}
	}
	return all
}

func (p *parsed) contentOf(f file) (c content) {
	switch {
	case f.isManifest() || f.isSchema() || f.isTest() && p.tests == nil:
	case f.isData():
		c.document, c.faults = p.documentOf(f)
	default:
		var err error
		c.module, err = ast.ParseModuleWithOpts(f.name, string(f.text), ast.ParserOptions{
			RegoVersion: ast.RegoV1, ProcessAnnotation: true, Capabilities: capabilities(),
		})
		if err != nil {
			c.faults = faultsIn(err, f.name)
		}
	}
	return c
}

func (p *parsed) documentOf(f file) (document any, faults Faults) {
	read, language := util.UnmarshalJSON, "JSON"
	if path.Ext(f.place) == ".yaml" {
		if read, language = unmarshalYAML, "YAML"; p.released {
			read = yaml.Unmarshal
		}
	}
	if err := read(f.text, &document); err != nil {
		return nil, Faults{{File: f.name, Line: lineOf(err, f.text), Message: fmt.Sprintf("this is no valid %s: %v", language, err)}}
	}
	return document, nil
}

func (p *parsed) add(f file, c content) Faults {
	switch {
	case f.isManifest():
		revision, faults := revisionIn(f)
		p.bundles[f.archive] = revision
		return faults
	case f.isSchema() && p.proven:
	case f.isSchema():
		return p.addSchema(f)
	case len(c.faults) > 0:
		return c.faults
	case f.isData():
		return p.addData(f, copyOf(c.document))
	case c.module == nil:
	case f.isTest():
		p.tests[f.name] = c.module
	default:
		p.modules[f.name] = c.module
	}
	return nil
}

// addData puts a document where stock OPA would put it: at the root of data for
// a file in the folder that was configured, below that for one in a folder of it.
func (p *parsed) addData(f file, document any) Faults {
	if folder := path.Dir(f.place); folder != "." {
		for _, name := range slices.Backward(strings.Split(folder, "/")) {
			document = map[string]any{name: document}
		}
	}
	object, ok := document.(map[string]any)
	if !ok {
		return Faults{{File: f.name, Line: 1, Message: "the document is not an object"}}
	}
	if at := merge(p.data, object); at != nil {
		return Faults{p.twice(f, at)}
	}
	return nil
}

// twice is that a file defines what one before it defined: a row of a table is changed where it stands.
func (p *parsed) twice(f file, at []string) Fault {
	line, _ := f.find(at)
	said := "another file of data already defines " + strings.Join(at, ".")
	for _, other := range p.files {
		if other.name == f.name {
			break
		}
		if there, found := other.find(at); other.isData() && found == len(at) {
			said = fmt.Sprintf("%s is defined in %s:%d already; change it there, or take it out of one of the two files",
				strings.Join(at, "."), other.name, there)
		}
	}
	return Fault{File: f.name, Line: line, Message: said}
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

func (p *parsed) addSchema(f file) Faults {
	var schema any
	if err := util.UnmarshalJSON(f.text, &schema); err != nil {
		return Faults{{File: f.name, Line: lineOf(err, f.text), Message: "this is no valid JSON: " + err.Error()}}
	}
	if p.schemas != nil {
		return Faults{{File: f.name, Message: "there is a second schema of the input document, beside " + p.schemaName +
			": take away the one that came with a copy of the policies"}}
	}
	p.schemaName = f.name
	p.schemas = ast.NewSchemaSet()
	p.schemas.Put(ast.SchemaRootRef, schema)
	return nil
}

func (p *parsed) addShippedSchema() Faults {
	const place = "schema/input.json"
	text, err := policies.FS.ReadFile(place)
	if err != nil {
		return Faults{unreadable(place, err)}
	}
	return p.addSchema(file{name: place, place: place, text: text})
}

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// lineOf finds the line that an error of a decoder means.
func lineOf(err error, text []byte) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		return line
	}
	return 1
}

// all are the modules that decide, and the tests.
func (p *parsed) all() map[string]*ast.Module {
	all := maps.Clone(p.modules)
	maps.Copy(all, p.tests)
	return all
}

// store holds the data the way evaluation wants it, so that a look-up in a table
// converts nothing.
func (p *parsed) store() (storage.Store, Faults) {
	data, err := ast.InterfaceToValue(p.data)
	if err != nil {
		return nil, Faults{{Message: fmt.Sprintf("reading data: %v", err)}}
	}
	return inmem.NewFromASTObject(data.(ast.Object)), nil
}

// compiler is set up as for "opa check --strict --schema". With print, what
// tests print is kept; without, print costs nothing.
func (p *parsed) compiler(print bool) *ast.Compiler {
	if p.proven {
		return p.plainCompiler(print).WithSkipStages(onlyChecks...)
	}
	return p.plainCompiler(print).WithStrict(true).WithSchemas(p.schemas)
}

// onlyChecks are the steps of compiling that change nothing of policies without faults.
var onlyChecks = []ast.StageID{
	ast.StageCheckUnusedImports, ast.StageCheckKeywordOverrides, ast.StageCheckDuplicateImports, ast.StageCheckVoidCalls,
	ast.StageCheckRuleConflicts, ast.StageCheckUndefinedFuncs, ast.StageCheckSafetyRuleHeads, ast.StageCheckRecursion,
	ast.StageCheckTypes, ast.StageCheckUnsafeBuiltins, ast.StageCheckDeprecatedBuiltins,
}

// plainCompiler is set up as for "opa test".
func (p *parsed) plainCompiler(print bool) *ast.Compiler {
	return ast.NewCompiler().
		SetErrorLimit(0).
		WithCapabilities(capabilities()).
		WithEnablePrintStatements(print).
		WithUseTypeCheckAnnotations(true).
		WithPathConflictsCheck(p.defines)
}

// defines says whether data has something at a path: a rule there would be in conflict.
func (p *parsed) defines(at []string) (bool, error) {
	var here any = p.data
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

// check compiles everything, tests too, as "opa check --strict" would. Compiled holds what decides, without what it prints, and is nil
// where it has faults.
func (p *parsed) check(ctx context.Context, compiled *ast.Compiler) Faults {
	if p.tests == nil {
		whole, faults := parse(p.files)
		if len(faults) > 0 {
			return faults
		}
		return whole.check(ctx, compiled)
	}
	if compiled == nil || len(p.tests) > 0 || slices.ContainsFunc(p.files, file.mayPrint) {
		compiled = compiledBy(func() *ast.Compiler { return p.compiler(true) }, p.all())
		if compiled.Failed() {
			return faultsOf(compiled)
		}
	}
	return p.oldNames(compiled)
}

// compile returns a compiler that holds what decides, and nothing else but, if that is to
// be explained, the modules as they are written.
func (p *parsed) compile(explained bool) (*ast.Compiler, Faults) {
	compiler := compiledBy(func() *ast.Compiler { return p.compiler(false).WithKeepModules(explained) }, p.modules)
	if compiler.Failed() {
		return nil, faultsOf(compiler)
	}
	if len(compiler.GetRulesExact(entrypoint)) == 0 {
		return nil, Faults{{Message: "no file defines the rule " + entrypoint.String()}}
	}
	return compiler, nil
}
