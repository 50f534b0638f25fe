package policyset

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/open-policy-agent/opa/v1/loader"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/policies"
)

func TestDataAppearsWhereStockOPAPutsIt(t *testing.T) {
	root := tree(t, map[string]string{
		"p.rego": "package bailiff\n", "data.yaml": "bailiff: {tables: {a: [1, 2.50, yes]}}", "team/data.json": `{"x": {"y": null}}`,
		"team/deep/data.yaml": "z: 1", "notes.yaml": "secret: 1", "other.json": "{}", "schema/data.json": `{"no": 1}`,
		"schema/input.json": "{}",
	})
	p, faults := Load(source.ReadAll, []string{root, filepath.Join(root, "team/deep/data.yaml")})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	stock, err := loader.NewFileLoader().All([]string{
		filepath.Join(root, "data.yaml"), "team:" + filepath.Join(root, "team/data.json"),
		"team.deep:" + filepath.Join(root, "team/deep/data.yaml")})
	must(t, err)
	if !reflect.DeepEqual(p.Data, stock.Documents) {
		t.Errorf("got %v, want %v", p.Data, stock.Documents)
	}
}

// What is not read by OPA itself is read as OPA reads it.
func TestTablesAreReadAsOPAReadsThem(t *testing.T) {
	t.Parallel()
	shipped, err := policies.FS.ReadFile("data.yaml")
	must(t, err)
	texts := []string{"", "a: 1\nb: [yes, true, null, ~, 0x1f, 0o17, 017, 1_000, -3, 18446744073709551615]", "a: 1.5", "a: 1e3", "a: .inf",
		"a: 2023-01-01", "1: x", "? [a]\n: x", "a: !!binary /w==", "a: &x {b: 1}\nc: {<<: *x, d: 2}", "a: 1\n---\nb: 2", "a: 1\n---\nb: [",
		"  a: 1\nb: 1", `{"a": "\u00e9", "b": 1E2, "c": 12}`, "\ufeffa: 1", "a: |\n  x\n   y\n", "a: 'it''s'", "- 1\n- {a: b}", "x",
		string(shipped)}
	for _, text := range texts {
		var got, want any
		failed, wanted := unmarshalYAML([]byte(text), &got), util.Unmarshal([]byte(text), &want)
		if (failed == nil) != (wanted == nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%.60q is read as %.100v (%v), want %.100v (%v)", text, got, failed, want, wanted)
		}
	}
	if err := unmarshalYAML([]byte("a: {b: 1, b: 2}"), new(any)); err == nil {
		t.Error("a key that stands there twice is no fault")
	}
}
