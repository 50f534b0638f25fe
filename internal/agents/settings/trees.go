package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// jsonTree is a file of JSON, which is indented anew where it is changed.
type jsonTree struct{ whole Object }

func readJSONTree(text string) (*jsonTree, error) {
	whole, err := ReadObject([]byte(text))
	return &jsonTree{whole}, err
}

func (t *jsonTree) value(path []string) json.RawMessage {
	value := JSON(t.whole)
	for _, name := range path {
		if value = t.mapping(value).Get(name); value == nil {
			return nil
		}
	}
	return value
}

// mapping are the entries of a value; none of one that is no mapping.
func (t *jsonTree) mapping(value json.RawMessage) Object {
	o, _ := ReadObject(value)
	return o
}

func (t *jsonTree) keys(path []string) (names []string, has bool) {
	value := t.value(path)
	if !strings.HasPrefix(string(value), "{") {
		return nil, false
	}
	for _, e := range t.mapping(value) {
		names = append(names, e.Key)
	}
	return names, true
}

func (t *jsonTree) set(path []string, value json.RawMessage) error {
	t.whole = withValue(t.whole, path, value)
	return nil
}

// withValue is an object with a value somewhere in it, or without one.
func withValue(o Object, path []string, value json.RawMessage) Object {
	o = slices.Clone(o)
	if len(path) > 1 {
		inner, _ := ReadObject(o.Get(path[0]))
		value = JSON(withValue(inner, path[1:], value))
	}
	if value == nil {
		o.Remove(path[0])
	} else {
		o.Set(path[0], value)
	}
	return o
}

func (t *jsonTree) order(path, names []string) error {
	o := t.mapping(t.value(path))
	var named []Pair
	for _, name := range names {
		if i := o.Index(name); i >= 0 {
			named = append(named, o[i])
		}
	}
	for i := range o {
		if slices.Contains(names, o[i].Key) {
			o[i], named = named[0], named[1:]
		}
	}
	if len(path) == 0 {
		t.whole = o
		return nil
	}
	return t.set(path, JSON(o))
}

func (t *jsonTree) text() string { return t.whole.Text() }

// yamlTree is a file of YAML.
type yamlTree struct{ doc *yamledit.Document }

func readYAMLTree(text string) (yamlTree, error) {
	doc, err := yamledit.Parse(text)
	return yamlTree{doc}, err
}

func (t yamlTree) value(path []string) json.RawMessage {
	value, err := t.doc.Value(path...)
	if err != nil || len(path) > 0 && t.doc.Node(path...) == nil {
		return nil
	}
	return JSON(value)
}

func (t yamlTree) keys(path []string) (names []string, has bool) {
	value, err := t.doc.Value(path...)
	entries, isMapping := value.(map[string]any)
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, err == nil && (isMapping || len(path) == 0)
}

func (t yamlTree) set(path []string, value json.RawMessage) error {
	if value == nil {
		return t.doc.Delete(path...)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return fmt.Errorf("reading what was there: %w", err)
	}
	return t.doc.Set(v, path...)
}

func (t yamlTree) order([]string, []string) error { return nil } // in which nothing changes the order

func (t yamlTree) text() string { return t.doc.String() }

// tomlTree is a file of TOML, as far as it is written as one key a line: a path is a key outside all tables, or a table and a
// key of it. Values are the texts that stand there.
type tomlTree struct{ lines []string }

func readTOMLTree(text string) *tomlTree {
	return &tomlTree{slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return line == "" })}
}

// tomlLine is what a line says.
type tomlLine struct {
	table, key, value string
	isHeader          bool
}

var (
	tomlTable = regexp.MustCompile(`^\s*\[([^\[\]]+)\]\s*(#.*)?$`)
	tomlList  = regexp.MustCompile(`^\s*\[\[.*\]\]\s*(#.*)?$`)
)

// said is what each line says. Elements of lists of tables are no tables.
func (t *tomlTree) said() (all []tomlLine) {
	table := ""
	for _, line := range t.lines {
		line = strings.TrimSpace(line)
		says := tomlLine{}
		switch header := tomlTable.FindStringSubmatch(line); {
		case header != nil:
			table = strings.TrimSpace(header[1])
			says.isHeader = true
		case tomlList.MatchString(line):
			table = line
		case !strings.HasPrefix(line, "#"):
			key, value, isKey := strings.Cut(line, "=")
			if isKey {
				says.key, says.value = strings.TrimSpace(key), tomlValue(value)
			}
		}
		says.table = table
		all = append(all, says)
	}
	return all
}

// tomlValue is the text of a value without the comment behind it.
func tomlValue(text string) string {
	var quote rune
	for i, c := range text {
		switch {
		case quote == 0 && c == '#':
			return strings.TrimSpace(text[:i])
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return strings.TrimSpace(text)
}

// index is the line of a key, or of a table's header; -1 if there is none.
func (t *tomlTree) index(path []string) int {
	return slices.IndexFunc(t.said(), func(l tomlLine) bool {
		switch len(path) {
		case 1:
			return l.isHeader && l.table == path[0] || l.table == "" && l.key == path[0]
		case 2:
			return l.key == path[1] && l.table == path[0]
		}
		return false
	})
}

func (t *tomlTree) value(path []string) json.RawMessage {
	i := t.index(path)
	if i < 0 {
		return nil
	}
	if says := t.said()[i]; !says.isHeader {
		return JSON(says.value)
	}
	names, _ := t.keys(path)
	var table Object
	for _, name := range names {
		table.Set(name, t.value([]string{path[0], name}))
	}
	return JSON(table)
}

func (t *tomlTree) keys(path []string) (names []string, has bool) {
	if len(path) > 1 {
		return nil, false
	}
	for _, l := range t.said() {
		switch {
		case len(path) == 0 && l.isHeader:
			names = append(names, l.table)
		case len(path) == 0 && l.table == "" && l.key != "", len(path) == 1 && l.table == path[0] && l.key != "":
			names = append(names, l.key)
		}
	}
	if len(path) == 0 {
		return names, true
	}
	i := t.index(path)
	return names, i >= 0 && t.said()[i].isHeader
}

func (t *tomlTree) set(path []string, value json.RawMessage) error {
	i := t.index(path)
	var text string
	switch {
	case i < 0:
		return errors.New("it is not there any more")
	case value == nil:
		from := i
		if t.said()[i].isHeader && i > 0 && strings.TrimSpace(t.lines[i-1]) == "" {
			from = i - 1 // the blank line that was written before a table
		}
		t.lines = slices.Delete(t.lines, from, i+1)
		return nil
	case json.Unmarshal(value, &text) != nil || t.said()[i].isHeader:
		return errors.New("a table cannot be written as a value")
	}
	name, _, _ := strings.Cut(t.lines[i], "=")
	t.lines[i] = name + "= " + text + "\n"
	return nil
}

func (t *tomlTree) order([]string, []string) error { return nil } // in which no key is moved

func (t *tomlTree) text() string { return strings.Join(t.lines, "") }
