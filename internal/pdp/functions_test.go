package pdp

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// settledOf compiles one rule "x" and what it uses.
func settledOf(t *testing.T, more string, others ...string) *snapshot {
	t.Helper()
	files := map[string]string{"more.rego": "package more\n\n" + more + "\n", "p.rego": "package bailiff\n\ndecision := data.more.x\n",
		"data.json": `{"table": {"a": 1}}`}
	for i, other := range others {
		files[fmt.Sprintf("other%d.rego", i)] = other
	}
	parsed, faults := load(readAll, []string{tree(t, files)})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	s, faults := newSnapshot(context.Background(), parsed, false, noCheck)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return s
}

func TestOnlyFunctionsOfArgumentsAndDataAreRemembered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more       string
		remembered int
		varies     bool
	}{
		"its argument":     {"f(a) := upper(a)\n\nx := f(input.command.text)", 1, false},
		"a table":          {"f(a) := data.table[a]\n\nx := f(input.command.text)", 1, false},
		"another function": {"g(a) := upper(a)\n\nf(a) := g(a)\n\nx := f(input.command.text)", 2, false},
		"a default":        {"default f(_) := 1\n\nf(\"b\") := 2\n\nx := f(input.command.text)", 1, false},
		"the platform":     {"f(_) := input.session.platform\n\nx := f(input.command.text)", 0, false},
		"the command in an else": {
			"g(_) := input.command.text\n\nf(a) := 1 if {\n\ta == 1\n} else := g(a)\n\nx := f(input.command.text)", 0, false},
		"a rule that reads the text": {"y := input.command.text\n\nf(a) := concat(a, [y, y])\n\nx := f(\"-\")", 0, false},
		"the clock":                  {"f(a) := [a, time.now_ns()]\n\nx := f(1)", 0, true},
		"chance":                     {"f(a) := rand.intn(a, 5)\n\nx := f(\"a\")", 0, true},
		"other data in place":        {"f(a) := data.table[a]\n\nx := y if y := f(\"a\") with data.table as {\"a\": 2}", 0, false},
		"another input in place":     {"f(a) := y if y := input.tool with input as a\n\nx := f({\"tool\": 1})", 0, false},
		"a function in another place": {
			"g(a) := data.table[a]\n\nf(a) := y if y := g(a) with data.table as {a: 5}\n\nx := f(input.command.text)", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settledOf(t, c.more)
			for range 2 {
				for _, text := range []string{"a", "b", "a"} {
					r := listing
					r.Args.Command = text
					input := document(r, ready, "")
					want, err := evaluate(context.Background(), s.decision, input, ready.Time, time.Minute)
					got, again := s.decide(context.Background(), input, ready.Time, time.Minute)
					if err != nil || again != nil || !c.varies && !want.Equal(got) {
						t.Errorf("%q is %v, %v, want %v, %v", text, got, again, want, err)
					}
				}
			}
			functions := 0
			for _, of := range s.settled.functions.byName {
				functions += len(of)
			}
			if c.remembered == 0 && s.settled.functions.values.Len() > 0 ||
				c.remembered > 0 && (functions < c.remembered || s.settled.functions.values.Len() == 0) {
				t.Errorf("%d values of %d functions are remembered, want of %d", s.settled.functions.values.Len(), functions, c.remembered)
			}
		})
	}
}

func TestAValueInConflictIsNotRemembered(t *testing.T) {
	t.Parallel()
	s := settledOf(t, "f(a) := 1 if startswith(a, \"a\")\n\nf(a) := 2 if endswith(a, \"b\")\n\nx := f(input.command.text)")
	for _, text := range []string{"ab", "ab", "ac"} {
		r := listing
		r.Args.Command = text
		if got, err := s.decide(context.Background(), document(r, ready, ""), ready.Time, time.Minute); (err != nil) != (text == "ab") {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	if n := s.settled.functions.values.Len(); n != 1 {
		t.Errorf("%d values are remembered, want that of the sound call", n)
	}
}

func TestRulesAreToldApartByTheirReferences(t *testing.T) {
	t.Parallel()
	var numbers ruleNumbers
	names := []string{"data.a.b", "data.b.a", "data.a", "data.a.b.c", `data["a.b"]`}
	for _, name := range names {
		numbers.add(ast.MustParseRef(name))
	}
	for _, name := range append(slices.Clone(names), "data.c", "data.a.c") {
		n, ok := numbers.of(ast.MustParseRef(name))
		if want := slices.Index(names, name); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s has the number %d, %v, want %d", name, n, ok, want)
		}
	}
}

// One rule about the text in one of them would have all of them evaluated for each request.
func TestWhatTheShippedPoliciesSayOfACallIsRemembered(t *testing.T) {
	t.Parallel()
	p, err := Open(t.Context(), Config{})
	must(t, err)
	remembered := p.inForce.Load().settled.functions.byName
	for _, name := range []ast.String{"_does", "_does_by_words", "_done_to_versions"} {
		if len(remembered[name]) == 0 {
			t.Errorf("%s reads more than its arguments and the tables", name)
		}
	}
}
