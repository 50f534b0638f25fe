package yamledit_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

func TestAValueIsSetWhereItStands(t *testing.T) {
	for name, c := range map[string]struct {
		text, path string
		value      any
		want       string
	}{
		"in nothing":               {"", "a.b", 1, "a: {b: 1}\n"},
		"in comments":              {"# only this\n", "a", "x", "# only this\na: x\n"},
		"over a word":              {"a: {b: x, c: y} # kept\n", "a.b", "z", "a: {b: z, c: y} # kept\n"},
		"over a quoted text":       {"a: \"x y\" # kept\n", "a", "z", "a: z # kept\n"},
		"into braces":              {"a: {b: x}\n", "a.c", []any{"d"}, "a: {b: x, c: [d]}\n"},
		"into empty braces":        {"a: {}\n", "a.c.d", true, "a: {c: {d: true}}\n"},
		"over a list in brackets":  {"a: [b, c]\n", "a", []any{"b"}, "a: [b]\n"},
		"over a list of lines":     {"a:\n- b\n- c\n# kept\nd: 1\n", "a", []any{"b"}, "a: [b]\n# kept\nd: 1\n"},
		"over lines":               {"a:\n  b: 1\n  c:\n    - {d: 2}\n\ne: 3\n", "a.c", []any{"x"}, "a:\n  b: 1\n  c: [x]\n\ne: 3\n"},
		"after the last line":      {"a:\n  b: 1 # one\n\n# of c\nc: 2\n", "a.d", "x", "a:\n  b: 1 # one\n  d: x\n\n# of c\nc: 2\n"},
		"after a text without end": {"a: 1", "b", 2, "a: 1\nb: 2\n"},
		"into a key without value": {"a:\n  b:\n  c: 1\n", "a.b.d", "x", "a:\n  b: {d: x}\n  c: 1\n"},
		"with a character of YAML": {"a: 1\n", "b", "x: y # z", "a: 1\nb: \"x: y # z\"\n"},
		"beside accents":           {"a: {ä: é, b: x}\n", "a.b", "ö", "a: {ä: é, b: \"ö\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := yamledit.Parse(c.text)
			if err == nil {
				err = d.Set(c.value, strings.Split(c.path, ".")...)
			}
			if err != nil || d.String() != c.want {
				t.Errorf("it is %q, %v, want %q", d, err, c.want)
			}
		})
	}
}

func TestAnElementIsAppended(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: [x]}\n":                  "a: {b: [x, {c: 1}]}\n",
		"a: {}\n":                        "a: {b: [{c: 1}]}\n",
		"a: {b: []}\n":                   "a: {b: [{c: 1}]}\n",
		"a:\n  b:\n    - x # one\n# e\n": "a:\n  b:\n    - x # one\n    - {c: 1}\n# e\n",
		"a:\n  b:\n  - x: 1\n    y: 2":   "a:\n  b:\n  - x: 1\n    y: 2\n  - {c: 1}\n",
	} {
		d, err := yamledit.Parse(text)
		if err == nil {
			err = d.Append(map[string]any{"c": 1}, "a", "b")
		}
		if err != nil || d.String() != want {
			t.Errorf("%q is %q, %v, want %q", text, d, err, want)
		}
	}
}

func TestAnEntryIsDeletedWithItsLines(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: 1, c: 2}\n":                  "a: {c: 2}\n",
		"a: {c: 2, b: [1, 2]}\n":             "a: {c: 2}\n",
		"a:\n  b:\n    - 1\n  # c\n  c: 2\n": "a:\n  # c\n  c: 2\n",
		"a:\n  c: 2\n":                       "a:\n  c: 2\n",
	} {
		d, err := yamledit.Parse(text)
		if err == nil {
			err = d.Delete("a", "b")
		}
		if err != nil || d.String() != want {
			t.Errorf("of %q is left %q, %v, want %q", text, d, err, want)
		}
	}
}

func TestEntriesAreDeletedTogetherWhereverTheyStand(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: 1, x: 0, c: 2}\n":                        "a: {x: 0}\n",
		"a: {b: 1, c: {d: 2}}\n":                         "a: {}\n",
		"a:\n  c: 2\n  x: 0\n  # b\n  b:\n    - 1\nd: 1": "a:\n  x: 0\n  # b\nd: 1",
		"a:\n  x: 0\n":                                   "a:\n  x: 0\n",
	} {
		d, err := yamledit.Parse(text)
		if err == nil {
			err = d.DeleteAll([]string{"a"}, "b", "none", "c")
		}
		if err != nil || d.String() != want {
			t.Errorf("of %q is left %q, %v, want %q", text, d, err, want)
		}
		if err := errors.Join(d.Set(1, "a", "b"), d.DeleteAll([]string{"a"}, "b")); err != nil || d.String() != want {
			t.Errorf("%q is %q after another entry came and went, %v", want, d, err)
		}
	}
	d, err := yamledit.Parse("a: &x {b: 1, c: 2}\nd: *x\n")
	if err != nil {
		t.Fatal(err)
	}
	before := d.String()
	if err := d.DeleteAll([]string{"a"}, "b", "c"); err == nil || d.String() != before {
		t.Errorf("at another place, too, entries were deleted: %q", d)
	}
}

func TestAChangeThatWouldChangeMoreIsRefused(t *testing.T) {
	for _, text := range []string{"a: &x {b: 1}\nc: *x\n", "a:\n  b: |\n    text\n   # odd\n"} {
		d, err := yamledit.Parse(text)
		if err != nil {
			continue
		}
		if err := d.Set(2, "a", "b"); err != nil && d.String() != text {
			t.Errorf("%q is %q after a refused change", text, d)
		} else if err == nil && strings.Contains(text, "&x") {
			t.Errorf("%q was changed to %q, at both places", text, d)
		}
	}
	if _, err := yamledit.Parse("a: 1\n---\nb: 2\n"); err == nil {
		t.Error("two documents were read as one")
	}
	if _, err := yamledit.Parse("- a\n"); err == nil {
		t.Error("a list was read as a mapping")
	}
}

func TestTheShippedTablesTakeAMount(t *testing.T) {
	text, err := os.ReadFile("../../../policies/data.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := yamledit.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	mount := []any{map[string]any{"source": "/p", "target": "/p", "read_only": false}}
	path := []string{"bailiff", "tables", "platforms", "cli", "mounts", "bubblewrap"}
	if err := d.Set(mount, path...); err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(path[:5]...); err != nil || d.String() != string(text) {
		t.Errorf("after it was removed the text is another one (%v)", err)
	}
}
