package rulecache

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

func TestOnlyFunctionsOfArgumentsAndDataAreRemembered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		x          string
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
			p := written(t, c.x)
			for range 2 {
				for _, text := range []string{"a", "b", "a"} {
					if input := inputOf(asking(text), noon); !c.varies {
						p.same(t, input)
					} else if _, err := p.decide(input); err != nil {
						t.Error(err)
					}
				}
			}
			functions := 0
			for _, of := range p.functions.byName {
				functions += len(of)
			}
			if n := p.functions.values.Len(); c.remembered == 0 && n > 0 || c.remembered > 0 && (functions < c.remembered || n == 0) {
				t.Errorf("%d values of %d functions are remembered, want of %d", n, functions, c.remembered)
			}
		})
	}
}

func TestAValueInConflictIsNotRemembered(t *testing.T) {
	t.Parallel()
	p := written(t, "f(a) := 1 if startswith(a, \"a\")\n\nf(a) := 2 if endswith(a, \"b\")\n\nx := f(input.command.text)")
	for _, text := range []string{"ab", "ab", "ac"} {
		if got, err := p.decide(inputOf(asking(text), noon)); (err != nil) != (text == "ab") {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	if n := p.functions.values.Len(); n != 1 {
		t.Errorf("%d values are remembered, want that of the sound call", n)
	}
}

// One rule about the text in one of them would have all of them evaluated for each request.
func TestWhatTheShippedPoliciesSayOfACallIsRemembered(t *testing.T) {
	t.Parallel()
	remembered := shipped(t).functions.byName
	for _, name := range []ast.String{"_does", "_does_by_words", "_done_to_versions"} {
		if len(remembered[name]) == 0 {
			t.Errorf("%s reads more than its arguments and the tables", name)
		}
	}
}
