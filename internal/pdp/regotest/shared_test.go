package regotest

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// sharing has rules and functions that are the same in all tests, and others that look so.
const sharing = `package bailiff

import data.bailiff

_constant := {"a": 1}

_table := {name: true | some name, _ in data.tables}

_has(name) if _table[name]

_is_told if input.told

_late if time.now_ns() > 0

_twice(x) := _double(x) + count(_table)

_double(x) := 2 * x

_either := "first" if {
	input.never
} else := "second" if _table.x
`

const sharingTest = `package t

import data.bailiff

test_plain if bailiff._has("x")

test_again if bailiff._has("x")

test_other_table if {
	bailiff._has("y") with data.tables as {"y": 1}
	not bailiff._has("x") with data.tables as {"y": 1}
	bailiff._has("x")
}

test_part_of_a_table if {
	bailiff._has("y") with data.tables.y as 1
	not bailiff._has("y")
}

test_rule if {
	not bailiff._has("x") with bailiff._table as {}
	bailiff._has("x")
}

test_function if {
	bailiff._twice(2) == 5
	bailiff._twice(2) == 101 with bailiff._double as 100
	bailiff._twice(2) == _tripled(2) + 1 with bailiff._double as _tripled
	bailiff._twice(2) == 5
}

_tripled(x) := 3 * x

test_builtin if {
	bailiff._twice(2) == 7 with count as 3
	bailiff._twice(2) == 5
}

test_input if {
	bailiff._is_told with input as {"told": true}
	not bailiff._is_told
	not bailiff._is_told with input as {"told": false}
}

test_else if {
	bailiff._either == "second"
	bailiff._either == "first" with input.never as true
	not bailiff._either with data.tables as {}
}

test_nested if {
	inner == {"y", "z"} with data.tables.y as 1
	not bailiff._has("z")
}

inner := {name |
	some name in ["y", "z"]
	bailiff._has(name) with data.tables.z as 1
}

test_any_name[name] if {
	some name in ["_table", "_constant"]
	data.bailiff[name]
}

test_clock if bailiff._late

test_fails if bailiff._has("y")

test_tells_why_it_fails if {
	print("x is", data.tables.x)
	bailiff._has("y")
}
`

// Results that are the same whether what tests have in common is evaluated once, or anew for each "with", as "opa test" does it.
func TestRequiredTestsEndAsWithOPA(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"many kinds": {"p.rego": allowing, "p_test.rego": manyTests, "data.yaml": "tables: {x: 1}"},
		"replaced":   {"p.rego": allowing, "q.rego": sharing, "p_test.rego": sharingTest, "data.yaml": "tables: {x: 1}"},
	} {
		sameAsOPA(t, name, []string{tree(t, files)})
	}
}

func sameAsOPA(t *testing.T, name string, paths []string) {
	t.Helper()
	p, faults := policyset.Load(source.ReadAll, paths)
	if len(faults) > 0 {
		t.Fatal(name, faults)
	}
	done, faults := test(t.Context(), p, testRun{compiler: func() *ast.Compiler { return p.PlainCompiler(true) }})
	sortResults(done.results)
	report, err := Run(context.Background(), Config{Paths: paths, Coverage: true}) // by OPA's own runner
	must(t, err)
	ours, theirs := withoutTimes(done.results), withoutTimes(report.Results)
	if len(faults) > 0 || len(ours) == 0 || !reflect.DeepEqual(ours, theirs) {
		t.Errorf("%s: got %v\n%v\nwant\n%v", name, faults, ours, theirs)
	}
}

func withoutTimes(results []Result) (all []string) {
	for _, one := range results {
		all = append(all, fmt.Sprint(one.Package, " ", one.Name, " ", one.File, " ", one.Line, " ", one.describe(), " ", one.Cases, " ",
			one.Output))
	}
	return all
}
