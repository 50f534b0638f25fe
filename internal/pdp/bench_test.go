package pdp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// Both sides of a comparison run turn by turn in one loop, so that whatever else
// the machine does falls on both; the figure reported is the ratio of the medians.

// BenchmarkDecisionAgainstBareQuery compares a decision from the request (facts,
// input document, evaluation, strict reading) with the same prepared query over
// an input document that is there already. Every request is a new one; what a
// request costs that was judged before is reported as x-bare of "repeated".
func BenchmarkDecisionAgainstBareQuery(b *testing.B) {
	p, err := Open(context.Background(), Config{EvalTimeout: time.Minute})
	must(b, err)
	for name, command := range commands {
		one := asked{listing, ready}
		one.Request.Args.Command, one.Request.Env = command, []string{"GITHUB_TOKEN"}
		b.Run(name, func(b *testing.B) { againstBare(b, p, one, one.anew(b, p)) })
		b.Run("repeated/"+name, func(b *testing.B) { againstBare(b, p, one, one.repeated(b, p)) })
	}
}

func againstBare(b *testing.B, p *PDP, one asked, decide func()) {
	b.Helper()
	input, query := inputOf(one.Request, one.At, ""), bare(b, p.inForce.Load())
	compare(b, "x-bare", decide, func() {
		if answer, err := query.Eval(context.Background(), rego.EvalParsedInput(input)); err != nil || len(answer) != 1 {
			b.Fatal(answer, err)
		}
	})
}

// anew asks each time about another text with other words in its calls, so that nothing is remembered but what circumstances
// settle, and calls that are in all of the texts ("git add -A").
func (a asked) anew(b *testing.B, p *PDP) func() {
	n := 0
	return func() {
		n++
		one, other := a, strconv.Itoa(n)
		one.Request.Args.Command = strings.NewReplacer("ls -l", "ls -l src"+other, "parser", "parser"+other, "TODO", "TODO"+other,
			"/out/", "/out"+other+"/").Replace(a.Request.Args.Command)
		if j := one.judged(p); j.Fault != nil || recalled(j) || j.Timers["timer_bailiff_alike_ns"] > 0 {
			b.Fatal(j)
		}
	}
}

// repeated asks the same each time, after a first one.
func (a asked) repeated(b *testing.B, p *PDP) func() {
	a.judged(p)
	return func() {
		if j := a.judged(p); j.Fault != nil || !recalled(j) {
			b.Fatal(j)
		}
	}
}

var commands = map[string]string{
	"short":  "ls -l",
	"usual":  "cd /workspace/app && git add -A && git commit -m 'Fix the parser' && git push origin fix-parser",
	"script": strings.Repeat("for f in src/*.go; do grep -n TODO \"$f\" | sort -u > /workspace/out/$(basename $f).txt; done\n", 10),
}

// bare is the query as anyone would prepare it with OPA's own package, over the
// same compiled policies and data.
func bare(b *testing.B, s *snapshot) rego.PreparedEvalQuery {
	b.Helper()
	query, err := rego.New(rego.Query("data.bailiff.decision"), rego.Compiler(s.compiler),
		rego.Store(s.store)).PrepareForEval(context.Background())
	must(b, err)
	return query
}

// BenchmarkLayers compares judgements without one layer of what is remembered with those that have it. Package rulecache has the
// same for rules and functions.
func BenchmarkLayers(b *testing.B) {
	for layer, turnOff := range map[string]func(*snapshot){
		"judgements by request":     func(s *snapshot) { s.requests = nil },
		"decisions by what is read": func(s *snapshot) { s.documents = nil },
	} {
		for name, command := range commands {
			one := asked{listing, ready}
			one.Request.Args.Command, one.Request.Env = command, []string{"GITHUB_TOKEN"}
			for again, ask := range map[string]func(*PDP) func(){"same request": one.again, "other session": one.inOtherSessions} {
				b.Run(layer+"/"+again+"/"+name, func(b *testing.B) {
					with, without := openShipped(b), openShipped(b)
					turnOff(without.inForce.Load())
					compare(b, "x-with", ask(without), ask(with))
				})
			}
		}
	}
}

// again asks the very same each time.
func (a asked) again(p *PDP) func() { return func() { a.judged(p) } }

// inOtherSessions asks the same each time in another session.
func (a asked) inOtherSessions(p *PDP) func() {
	n := 0
	return func() {
		n++
		other := a
		other.Request.Session.ID = strconv.Itoa(n)
		other.judged(p)
	}
}

// BenchmarkLargerTables compares decisions over tables of 4,000 entries with
// those over 400.
func BenchmarkLargerTables(b *testing.B) {
	small, large := grown(b, 400), grown(b, 4000)
	one := asked{listing, ready}
	one.Request.Args.Command, one.Request.Env = commands["usual"], []string{"GITHUB_TOKEN", "NAME_399"}
	compare(b, "x-400-entries", one.anew(b, large), one.anew(b, small))
}

// grown are the shipped policies with so many entries more, spread over all the
// tables that are looked up by name. What an entry says is taken from another
// entry of its table.
func grown(b *testing.B, entries int) *PDP {
	b.Helper()
	p, faults := policyset.Load(source.ReadAll, nil)
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	root := p.Data["bailiff"].(map[string]any)
	tables, programs := root["tables"].(map[string]any), root["programs"].(map[string]any)
	for i := range entries {
		table, ok := tables[looked[i%len(looked)]].(map[string]any)
		if !ok {
			table = programs["systems"].(map[string]any)
		}
		names := slices.Sorted(maps.Keys(table))
		table[fmt.Sprintf("grown-%d", i)] = table[names[i%len(names)]]
	}
	s, faults := newSnapshot(context.Background(), p, false, checksOf(p))
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	pdp := &PDP{config: Config{EvalTimeout: time.Minute}, facts: document.Read}
	pdp.inForce.Store(s)
	return pdp
}

// looked are the tables that security teams let grow, and the entries of programs.
var looked = []string{"platforms", "env", "", "verdicts", "classes", "hosts"}

// compare runs two things turn by turn and reports how many times longer the
// first takes.
func compare(b *testing.B, unit string, one, other func()) {
	b.Helper()
	var ones, others []time.Duration
	one()
	other()
	for b.Loop() {
		ones, others = append(ones, took(one)), append(others, took(other))
	}
	b.ReportMetric(float64(median(ones))/float64(median(others)), unit)
	b.ReportMetric(float64(median(ones)), "ns-median")
	b.ReportMetric(float64(median(others)), "ns-median-other")
}

func took(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkSaveUntilInForce measures from the save of a file until a decision
// follows it, with the shipped policies and all of their tests, and what the tests
// alone take.
func BenchmarkSaveUntilInForce(b *testing.B) {
	root := copied(b)
	told := make(reloads, 100)
	p, err := Open(context.Background(), Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute, Observer: told})
	must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = p.Watch(ctx) })
	defer func() { cancel(); running.Wait() }()
	var saves, tests []time.Duration
	for n := 0; b.Loop(); n++ {
		before := p.Revision()
		saves = append(saves, took(func() {
			write(b, filepath.Join(root, "more.rego"), fmt.Sprintf("package more\n\nn := %d\n", n))
			for p.Revision() == before {
				<-told
			}
		}))
		tests = append(tests, took(func() {
			next, faults := policyset.Load(source.ReadTrusted, []string{root})
			if len(faults) == 0 {
				faults = regotest.Require(ctx, next, nil).Faults
			}
			if len(faults) > 0 {
				b.Fatal(faults)
			}
		}))
	}
	b.ReportMetric(median(saves).Seconds()*1000, "ms-save")
	b.ReportMetric(median(tests).Seconds()*1000, "ms-tests")
}
