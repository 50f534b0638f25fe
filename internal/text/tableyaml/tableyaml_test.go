package tableyaml

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bailiff-dev/bailiff/policies"
)

// TestShippedTablesAreRead holds that none of the shipped tables needs a reader of all of YAML.
func TestShippedTablesAreRead(t *testing.T) {
	tables := 0
	must(t, fs.WalkDir(policies.FS, ".", func(place string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(place, ".yaml") {
			return err
		}
		tables++
		text, err := policies.FS.ReadFile(place)
		if isRead := agrees(t, text); !isRead {
			t.Errorf("%s is not read", place)
		}
		return err
	}))
	if tables < 20 {
		t.Errorf("%d tables were found", tables)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// texts are read, others are not.
var texts = []string{
	"", "# nothing\n", "a: b", "a: b\nc: d\n", "a:\n  b: c\n  d:\n    - e\n    - f\ng: h",
	"a:\n- b\n- c: d\n  e: f\n- - g\n  - h\ni: j",
	"a: {b: c, 'd e': [f, \"g\", {h: i}]} # j\n", "a: [\n  b, # c\n  d e\n  f,\n]\n", "a: b c\n  d e\n\nf: g", "a:\n  b c\n  d\n",
	"a: 'it''s'\n\"b \\\" \\\\ \\n\": c\n", "n: 12\nm: -3\nz: 0\np: 7z\nq: -b\nr: .x\ns: 0.0.0.0\n",
	"t: true\nf: False\nnull_: ~\ny: yes\n",
	"-a: -b\n--c: .d\n", "a: b#c\nd: e:f\n", "a:\nb:\n", "- a\n- b\n", "a\n", "[a, b]", "a: 'b c\n  d'\ne: f\n",
	"a: [-x, --y=z, -3, '*']", "a: http://x/?y=z\n",
}

var others = []string{
	"a: &b c\nd: *b\n", "a: !!str b\n", "a: |\n  b\n",
	"a: >-\n  b\n", "a: b\na: c\n", "a: 1.5\n", "a: 2026-11-30\n", "1: a\n", "true: a\n",
	"<<: {a: b}\n", "a: b: c\n", "a: {b}\n", "a: [b: c]\n", "a: [b\n", "a: 'b\n", "a: 'b\n\n c'\n", "a: \"b\n c\"\n",
	"'a\n b': c\n", "a: \"\\x41\"\n", "a: b\n c\n  d: e\n",
	"a:\n  b: c\n d: e\n", "? a\n", "a: @b\n", "a: %b\n", "a: \tb\n", "--- \na: b\n", "a: b\n---\nc: d\n",
	"a: {b: c}d\n", "a: 'b' c\n", "a: [b] [c]\n",
	"a: b\n\n  c\n", "a: b\r\n", "\ufeffa: b\n", "a: \u0085b\n", strings.Repeat("[", 100), "a: {b:c}\n", "[a?b]", "x: 0x1F\n",
	"u: 1_000\n", "v: -_2\n", "w: +3\n", "a: - b\n",
}

func TestTablesAreReadAsYAMLReadsThem(t *testing.T) {
	for _, text := range texts {
		if !agrees(t, []byte(text)) {
			t.Errorf("%q is not read", text)
		}
	}
	for _, text := range others {
		if agrees(t, []byte(text)) {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range append(texts, others...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agrees(t, text) })
}

// agrees says whether a text is read, and holds that it has the value then which YAML gives it.
func agrees(t *testing.T, text []byte) (isRead bool) {
	t.Helper()
	value, isRead := Read(text)
	if !isRead {
		return false
	}
	var want any
	if err := yaml.Unmarshal(text, &want); err != nil {
		t.Errorf("%q is read as %v, but %v", text, value, err)
	} else if want = asJSON(want); !reflect.DeepEqual(value, want) {
		t.Errorf("%q is read as %#v, want %#v", text, value, want)
	}
	return true
}

// asJSON is a value with the numbers of JSON.
func asJSON(value any) any {
	switch v := value.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = asJSON(v[key])
		}
	}
	return value
}
