package corpus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/corpus"
	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/policies"
)

func prepared(t testing.TB) rego.PreparedEvalQuery {
	names, _ := fs.Glob(policies.FS, "*.rego")
	opts := []func(*rego.Rego){rego.Query("data.bailiff.decision")}
	for _, n := range names {
		if strings.HasSuffix(n, "_test.rego") {
			continue
		}
		b, _ := policies.FS.ReadFile(n)
		opts = append(opts, rego.Module(path.Base(n), string(b)))
	}
	b, _ := policies.FS.ReadFile("data.yaml")
	var data map[string]any
	if err := yaml.Unmarshal(b, &data); err != nil {
		t.Fatal(err)
	}
	j, _ := json.Marshal(data)
	data = nil
	if err := json.Unmarshal(j, &data); err != nil {
		t.Fatal(err)
	}
	opts = append(opts, rego.Store(inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))))
	q, err := rego.New(opts...).PrepareForEval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func input(c corpus.Case) map[string]any {
	req := map[string]any{
		"tool": "terminal", "args": map[string]any{"command": c.Command, "timeout": 0}, "caller": map[string]any{"name": "test"},
		"session": map[string]any{"id": "s", "platform": c.Platform, "unattended": false},
		"env":     map[string]any{"requested": []any{}, "available": []any{}},
		"backend": map[string]any{"requested": "", "available": map[string]any{"local": map[string]any{"isolated": false, "ready": true}}},
		"time":    "2026-11-21T12:00:00Z",
	}
	if c.Platform != "cli" {
		req["backend"].(map[string]any)["available"] = map[string]any{"docker": map[string]any{"isolated": true, "ready": true}}
	}
	var m any
	b, _ := json.Marshal(facts.Shell(c.Command, facts.Place{Home: "/home/tester"}))
	_ = json.Unmarshal(b, &m)
	req["command"] = m
	return req
}

func TestCorpus(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	q := prepared(t)
	bad := 0
	for _, c := range cases {
		if c.Code != "" {
			continue
		}
		in := input(c)
		rs, err := q.Eval(context.Background(), rego.EvalInput(in))
		if err != nil || len(rs) == 0 {
			t.Errorf("%s: %q: %v %v", c.Theme, c.Command, err, rs)
			continue
		}
		b, _ := json.Marshal(rs[0].Expressions[0].Value)
		var d bailiff.Decision
		if err := json.Unmarshal(b, &d); err != nil {
			t.Errorf("%q: %v", c.Command, err)
			continue
		}
		said := d.Denials
		if d.Approval != nil {
			said = append(said, d.Approval.Reasons...)
		}
		ok := c.Rule == "" || slices.ContainsFunc(said, func(r bailiff.Reason) bool { return r.Rule == c.Rule })
		if d.Outcome != c.Outcome || !ok {
			bad++
			f, _ := json.Marshal(in["command"])
			t.Error(fmt.Sprintf("%s: %q\n   got %v %v\n   want %v %s\n   %s", c.Theme, c.Command, d.Outcome, said, c.Outcome, c.Rule, f))
		}
	}
	t.Logf("%d of %d wrong", bad, len(cases))
}

func BenchmarkDecision(b *testing.B) {
	q := prepared(b)
	for _, text := range []string{"git status", "rm -rf build", "cd src && go test ./... | tee out.txt", "cat .env"} {
		b.Run(text, func(b *testing.B) {
			in := input(corpus.Case{Command: text, Platform: "telegram"})
			parsed := toAST(b, in)
			b.ReportAllocs()
			start, n := cpu(b), 0
			for b.Loop() {
				n++
				if _, err := q.Eval(context.Background(), rego.EvalParsedInput(parsed)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-start)/float64(n), "cpu-ns/op")
		})
	}
}
