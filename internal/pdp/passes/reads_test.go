package passes

import (
	"encoding/json"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

const rules = `package p

limit := data.tables.limit

names contains name if some name in data.tables.names

half(x) := x / 2

half_of_limit := half(limit)

row := data.tables.rows[input.row]

clock := time.now_ns()

printed if print("x")

other := 1
`

const tests = `package p_test

import data.p

test_limit if p.limit == 10

test_half if p.half_of_limit == 5 with data.tables.limit as 10

test_names if "a" in p.names

test_row if p.row == 1 with input as {"row": "a"}

test_clock if p.clock > 0 with time.now_ns as 1

test_printed if p.printed

test_any if {
	some name in ["limit", "other"]
	data.p[name]
}
`

var all = []string{"test_limit", "test_half", "test_names", "test_row", "test_clock", "test_printed", "test_any"}

// keys are those of all tests that have one.
func keys(t *testing.T, modules map[string]string, data string) map[string]Key {
	t.Helper()
	parsed := map[string]*ast.Module{}
	for name, text := range modules {
		parsed[name] = ast.MustParseModule(text)
	}
	compiler := ast.NewCompiler().WithEnablePrintStatements(true)
	if compiler.Compile(parsed); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	var document map[string]any
	must(t, json.Unmarshal([]byte(data), &document))
	reads, err := NewReads(compiler, document)
	must(t, err)
	found := map[string]Key{}
	for _, name := range all {
		if key, ok := reads.Key(ast.MustParseRef("data.p_test." + name)); ok {
			found[name] = key
		}
	}
	return found
}

const data = `{"tables": {"limit": 10, "names": ["a"], "rows": {"a": 1}}}`

func TestAKeyChangesWithWhatTheTestCanRead(t *testing.T) {
	limited := []string{"test_limit", "test_any"}
	before := keys(t, map[string]string{"p.rego": rules, "p_test.rego": tests}, data)
	if _, has := before["test_clock"]; has || len(before) != len(all)-1 {
		t.Fatalf("got keys of %d tests, want all but that of the clock", len(before))
	}
	for name, c := range map[string]struct {
		modules map[string]string
		data    string
		want    []string
	}{
		"nothing":   {want: nil},
		"a comment": {modules: map[string]string{"p.rego": "# why\n" + rules}},
		"files, otherwise": {modules: map[string]string{"p.rego": "package p\n", "a.rego": rules, "p_test.rego": "package p_test\n",
			"a_test.rego": tests}},
		"a rule of a set": {modules: map[string]string{"q.rego": "package p\n\nnames contains \"b\" if input.x\n"},
			want: []string{"test_names"}},
		"a rule none reads": {modules: map[string]string{"q.rego": "package p\n\nmore := 1\n"}},
		"an else": {modules: map[string]string{"p.rego": rules + "\nwide := 1 if input.x else := 2\n",
			"q.rego": "package p\n\nnames contains wide\n"}, want: []string{"test_names"}},
		"a function":          {modules: map[string]string{"q.rego": "package p\n\nhalf(x) := 3 if x == 7\n"}, want: []string{"test_half"}},
		"a value of data":     {data: `{"tables": {"limit": 11, "names": ["a"], "rows": {"a": 1}}}`, want: limited},
		"a row":               {data: `{"tables": {"limit": 10, "names": ["a"], "rows": {"a": 1, "b": 2}}}`, want: []string{"test_row"}},
		"data that goes":      {data: `{"tables": {"limit": 10, "rows": {"a": 1}}}`, want: []string{"test_names"}},
		"a string, no number": {data: `{"tables": {"limit": "10", "names": ["a"], "rows": {"a": 1}}}`, want: limited},
		"data that none read": {data: `{"tables": {"limit": 10, "names": ["a"], "rows": {"a": 1}, "more": 1}}`},
	} {
		modules := map[string]string{"p.rego": rules, "p_test.rego": tests}
		for file, text := range c.modules {
			modules[file] = text
		}
		if c.data == "" {
			c.data = data
		}
		wanted := map[string]bool{}
		for _, test := range c.want {
			wanted[test] = true
		}
		after := keys(t, modules, c.data)
		for test, key := range before {
			if changed := after[test] != key; changed != wanted[test] {
				t.Errorf("%s: the key of %s changed: %t, want %t", name, test, changed, wanted[test])
			}
		}
	}
}

// TestDataThatATestReplacesDoNotMatter has a test read data by a rule, and changes the data.
func TestDataThatATestReplacesDoNotMatter(t *testing.T) {
	const rules = `package p

limit := data.tables.limit

row := data.tables.rows[input.row]

chain := 1 if { input.no } else := data.tables.limit

both := [data.tables.limit, count(data.tables)]

same(x) := x
`
	for body, reads := range map[string]bool{
		"p.limit == 10": true,
		"p.limit == 1 with data.tables.limit as 1":                    false,
		"p.limit == 1 with data.tables as {\"limit\": 1}":             false,
		"p.same(p.limit) == 1 with data.tables.limit as 1":            false,
		"p.chain == 1 with data.tables.limit as 1":                    false,
		"data.tables.limit == 1 with data.tables.limit as 1":          false,
		"every x in [1] { p.limit == x } with data.tables.limit as 1": false,
		"[x | x := p.limit] == [1] with data.tables.limit as 1":       false,
		"every x in [1] { p.limit == x with data.tables.limit as x }": false,
		"told(1) == 1":                false,
		"told(p.limit) == 10":         true,
		"told(1) == 1; p.limit == 10": true,
		"p.limit == 1 with data.tables.limit as 1; p.limit == 10":                   true,
		"p.limit == 10 with data.tables.limit as p.limit":                           true,
		"p.limit == 10 with data.tables.limit as data.tables.limit":                 true,
		"p.limit == 10 with data.tables.other as 1":                                 true,
		"p.limit == 10 with data.tables.limit.more as 1":                            true,
		"p.both == [1, 3] with data.tables.limit as 1":                              true,
		"data.p[input.x] == 1 with data.tables.limit as 1":                          true,
		"x := p.limit; x == 1 with data.tables.limit as 1":                          true,
		"count([1 | p.limit == 10]) == 1; p.limit == 1 with data.tables.limit as 1": true,
	} {
		test := "package p_test\n\nimport data.p\n\ntold(x) := y if {\n\ty := p.limit with data.tables.limit as x\n}\n\n" +
			"test_limit if { " + body + " }\n"
		modules := map[string]string{"p.rego": rules, "p_test.rego": test}
		before, after := keys(t, modules, data), keys(t, modules, `{"tables": {"limit": 11, "names": ["a"], "rows": {"a": 1}}}`)
		if changed := before["test_limit"] != after["test_limit"]; changed != reads {
			t.Errorf("%s: its key changed with the limit: %t, want %t", body, changed, reads)
		}
	}
}

func TestRulesThatMeanOtherThingsHaveOtherKeys(t *testing.T) {
	seen := map[Key]string{}
	for _, body := range []string{
		"1 == 1", "1 != 1", "1 == 2", "not 1 == 1", "true", "false", `"__local0__" == "x"`, `"__local1__" == "x"`,
		"input.x", "input.y", "input.x.y", `input["x.y"]`, "some x in input.x", "some x in input.y", "every x in input.x { x }",
		"every x in input.x { not x }", "[1, 2] == input", "[[1], 2] == input", "{1, 2} == input", `{"a": 1} == input`,
		`{"a": {"b": 1}} == input`,
		"count([x | some x in input]) == 1", "count({x | some x in input}) == 1", "count({x: 1 | some x in input}) == 1",
		"sum(input) == 1", "max(input) == 1",
		"input.x with input as 1", "input.x with input as 2", "input.x with input.x as 1", "input.x; input.y", "input.y; input.x",
		`x := input.x; y := input.y; x == y`,
		`x := input.x; y := input.y; y == x`, `x := input.x; y := input.x; x == y`, "data.q.r", "data.q",
		`contains("a", "b")`, `contains("ab", "")`, `print("a")`, `print("b")`,
	} {
		found := keys(t, map[string]string{"p_test.rego": "package p_test\n\ntest_limit if { " + body + " }\n"}, data)
		key, has := found["test_limit"]
		if other, known := seen[key]; known || !has {
			t.Errorf("%q has the key of %q (or none: %t)", body, other, !has)
		}
		seen[key] = body
	}
}

func TestTheWholeDecisionIsReachedByWhatMayReachIt(t *testing.T) {
	compiler := ast.MustCompileModules(map[string]string{"p.rego": rules, "p_test.rego": tests})
	reads, err := NewReads(compiler, nil)
	must(t, err)
	for test, want := range map[string]bool{"test_limit": true, "test_half": true, "test_names": false, "test_any": true} {
		if got := reads.Reach(ast.MustParseRef("data.p_test."+test), ast.MustParseRef("data.p.limit")); got != want {
			t.Errorf("%s reaches it: %t, want %t", test, got, want)
		}
	}
}
