package dependencies

import (
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// analysed are rules of package more, and other packages.
func analysed(t *testing.T, more string, others ...string) *Analysis {
	t.Helper()
	modules := map[string]*ast.Module{}
	for _, text := range append(others, "package more\n\n"+more+"\n") {
		modules[text] = ast.MustParseModule(text)
	}
	compiler := ast.NewCompiler()
	if compiler.Compile(modules); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	return New(compiler)
}

func TestPartsBehindARuleAreThoseThatItNames(t *testing.T) {
	t.Parallel()
	const stands = "y := input.command if input.tool == \"terminal\"\n\ny := input.code.command if input.tool == \"process\"\n\n"
	for name, c := range map[string]struct{ more, parts string }{
		"a part":                     {`x := input.command.hosts`, "command.hosts"},
		"through one that stands in": {stands + `x := y.hosts`, "code.command command.hosts tool."},
		"an entry of it":             {stands + `x := y.calls[0].argv`, "code.command command.calls tool."},
		"all of it":                  {stands + `x := y`, "code.command command. tool."},
		"all of it beside a part":    {stands + `x := [y, y.hosts]`, "code.command command. tool."},
		"by a computed name":         {stands + "x contains y[k] if some k in [\"hosts\"]", "code.command command. tool."},
		"in a comprehension":         {stands + "x := {h | some h in y.hosts}", "code.command command.hosts tool."},
		"what is not there":          {stands + "x if not y.supposed", "code.command command.supposed tool."},
		"in a function":              {stands + "f(a) := [a, y.hosts]\n\nx := f(1)", "code.command command.hosts tool."},
		"in an else":                 {stands + "x := 1 if {\n\tinput.env\n} else := y.hosts", "code.command command.hosts env. tool."},
		"one that does more":         {"y := input.command if count(input.files) > 0\n\nx := y.hosts", "command. files."},
		"one that uses another rule": {"z if input.tool\n\ny := input.command if z\n\nx := y.hosts", "command. tool."},
		"one with a default":         {"default y := {}\n\ny := input.command\n\nx := y.hosts", "command."},
		"a set":                      {"y contains input.command\n\nx := [h | some v in y; h := v.hosts]", "command."},
		"data alone":                 {"x := data.table", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, sure := analysed(t, c.more).Of(ast.MustParseRef("data.more.x"))
			var parts []string
			for _, part := range read.Parts() {
				parts = append(parts, part.String())
			}
			if got := strings.Join(parts, " "); got != c.parts || !sure {
				t.Errorf("read are %s, %v, want %s", got, sure, c.parts)
			}
		})
	}
}

func TestAReferenceThatMayMeanAnyDocumentReadsAllOfThem(t *testing.T) {
	t.Parallel()
	const other = "package other\n\ny := input.command if input.tool == \"terminal\"\n"
	for _, more := range []string{"x := [data.other.y.hosts, [v | v := data.other[_]]]", "x := [data.other.y.hosts, data.other]"} {
		read, _ := analysed(t, more, other).Of(ast.MustParseRef("data.more.x"))
		if !slices.Contains(read.Parts(), InputPart{Name: "command"}) {
			t.Errorf("%s: read are %v, want all of the command", more, read)
		}
	}
}

func TestNothingIsSureOfTheClock(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"x := time.now_ns()", "x := input.time", "x := input", "y := input\n\nx := y",
		"x := rand.intn(\"a\", 5)"} {
		if read, sure := analysed(t, more).Of(ast.MustParseRef("data.more.x")); sure {
			t.Errorf("%s: it is sure that read are %v", more, read)
		}
	}
}

func TestRulesAreToldApartByTheirReferences(t *testing.T) {
	t.Parallel()
	var numbers Numbers
	names := []string{"data.a.b", "data.b.a", "data.a", "data.a.b.c", `data["a.b"]`}
	for _, name := range names {
		numbers.Add(ast.MustParseRef(name))
	}
	for _, name := range append(slices.Clone(names), "data.c", "data.a.c") {
		n, ok := numbers.Of(ast.MustParseRef(name))
		if want := slices.Index(names, name); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s has the number %d, %v, want %d", name, n, ok, want)
		}
	}
}
