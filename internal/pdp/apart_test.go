package pdp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

func TestRulesRememberedByPartsSayTheSameOfEveryText(t *testing.T) {
	t.Parallel()
	s := settledOf(t, `_command := input.command if input.tool == "terminal"

_command := input.code.command if input.tool == "execute_code"

_hosts contains host if some host in _command.hosts

_reads contains path if some path in _command.reads

_whole if _command.complete

x := {"hosts": _hosts, "reads": _reads, "whole": object.get({"a": 1 | _whole}, "a", 0), "text": input.command.text}`)
	for name, remembered := range map[string]bool{"_hosts": true, "_reads": true, "_whole": true, "_command": false, "x": false} {
		n, ok := s.settled.rules.of(ast.MustParseRef("data.more." + name))
		if !ok || (s.settled.apart.byRule[n] != nil) != remembered {
			t.Errorf("%s is remembered: %v, want %v", name, !remembered, remembered)
		}
	}
	var all sync.WaitGroup
	for range 2 { // side by side
		all.Go(func() {
			for _, text := range []string{"ls a", "ls b", "cat a", "cat b", "curl http://a.test", "curl http://b.test", "eval $X", "ls a"} {
				for range 2 {
					r := listing
					r.Args.Command = text
					input := document(r, ready, "")
					want, err := evaluate(context.Background(), s.decision, input, ready.Time, time.Minute)
					got, again := s.decide(context.Background(), input, ready.Time, time.Minute)
					if err != nil || again != nil || !want.Equal(got) {
						t.Errorf("%q is %v, %v, want %v, %v", text, got, again, want, err)
					}
				}
			}
		})
	}
	all.Wait()
	if n := s.settled.apart.values.Len(); n == 0 {
		t.Error("nothing is remembered")
	}
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settledOf(t, c.more)
			read, sure := newPartReadings(s.compiler).of(ast.MustParseRef("data.more.x"))
			var parts []string
			for _, part := range read.parts() {
				parts = append(parts, string(part.name+"."+part.below))
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
		s := settledOf(t, more, other)
		read, _ := newPartReadings(s.compiler).of(ast.MustParseRef("data.more.x"))
		if !slices.Contains(read.parts(), inputPart{name: "command"}) {
			t.Errorf("%s: read are %v, want all of the command", more, read)
		}
	}
}

func TestWhatOneTextAloneHasIsRememberedNowhere(t *testing.T) {
	t.Parallel()
	s := settledOf(t, "x := [input.args.stdin, y, z]\n\nz := input.command.text\n\ny := count(input.command.calls)")
	for _, rule := range s.settled.apart.byRule {
		if slices.ContainsFunc(rule, func(n int) bool { return s.settled.apart.parts[n].isOfOneShellText() }) {
			t.Error("a rule is remembered by a part that every shell text has for itself")
		}
	}
}

func TestNoRuleOfTheClockIsRememberedByParts(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"y := [time.now_ns(), input.command.hosts]\n\nx := y", "y := [input.time, input.command.hosts]\n\nx := y",
		"y := [input, input.command.hosts]\n\nx := y"} {
		s := settledOf(t, more)
		if slices.ContainsFunc(s.settled.apart.byRule, func(numbers []int) bool { return numbers != nil }) {
			t.Errorf("%s: rules are remembered", more)
		}
	}
}
