package hermes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/env"
)

// setting is what is said of one key, and where.
type setting struct {
	value any
	from  string
}

// values are those of config.yaml by dotted key, the managed ones over the
// user's, and the variables of the .env files.
type values struct {
	said      map[string]setting
	managed   map[string]bool
	variables map[string]variable
}

type variable struct {
	value bailiff.Secret
	from  string
}

// odd is a value that is not read: an alias, an anchor, a tag, a reference to a
// variable, whose value may be a secret.
type odd struct{ what string }

func readSettings(home, managed string) (*values, error) {
	s := &values{said: map[string]setting{}, managed: map[string]bool{}, variables: map[string]variable{}}
	for _, folder := range []string{home, managed} {
		if folder == "" {
			continue
		}
		if err := errors.Join(s.readConfig(folder, folder == managed), s.readEnv(folder)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readConfig takes a config.yaml over what is said so far.
func (s *values) readConfig(folder string, managed bool) error {
	path := filepath.Join(folder, "config.yaml")
	text, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	body, err := parsed(path, text)
	if err != nil {
		return err
	}
	s.take("", body, func(key string, value any, line int) {
		s.said[key] = setting{value, fmt.Sprintf("%s:%d", path, line)}
		s.managed[key] = managed
	})
	return nil
}

// take tells each leaf of a mapping.
func (s *values) take(key string, node ast.Node, tell func(key string, value any, line int)) {
	m, ok := node.(ast.MapNode)
	if !ok {
		if node != nil && key != "" {
			tell(key, valueOf(node), node.GetToken().Position.Line)
		}
		return
	}
	for it := m.MapRange(); it.Next(); {
		name := it.Key().GetToken().Value
		if key != "" {
			name = key + "." + name
		}
		s.take(name, it.Value(), tell)
	}
}

func valueOf(node ast.Node) any {
	switch n := node.(type) {
	case *ast.StringNode:
		return plain(n.Value)
	case *ast.LiteralNode:
		return plain(n.Value.Value)
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return json.Number(n.GetToken().Value)
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, element := range n.Values {
			list[i] = valueOf(element)
		}
		return list
	case ast.MapNode:
		entries := map[string]any{}
		for it := n.MapRange(); it.Next(); {
			entries[it.Key().GetToken().Value] = valueOf(it.Value())
		}
		return entries
	}
	return odd{"a YAML " + node.Type().YAMLName()}
}

func plain(text string) any {
	if strings.Contains(text, "${") {
		return odd{"computed from a variable"}
	}
	return text
}

func (s *values) readEnv(folder string) error {
	path := filepath.Join(folder, ".env")
	read, err := env.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for name, value := range read {
		s.variables[name] = variable{value, path}
	}
	return err
}

// variableOf is the variable that stands for a key in .env; empty if none does.
// What config.yaml says wins over it.
func variableOf(key string) string {
	name, terminal := strings.CutPrefix(key, "terminal.")
	switch {
	case key == "terminal.backend":
		return "TERMINAL_ENV"
	case terminal:
		return "TERMINAL_" + strings.ToUpper(name)
	}
	return ""
}

func keyOf(variable string) string {
	name, terminal := strings.CutPrefix(variable, "TERMINAL_")
	switch {
	case variable == "TERMINAL_ENV":
		return "terminal.backend"
	case terminal:
		return "terminal." + strings.ToLower(name)
	}
	return ""
}

// of is what is said of a key.
func (s *values) of(key string) (setting, bool) {
	if said, ok := s.said[key]; ok {
		return said, true
	}
	if v, ok := s.variables[variableOf(key)]; ok {
		return setting{plain(v.value.Reveal()), v.from + ", " + variableOf(key)}, true
	}
	return setting{}, false
}

// below are the keys that are said under a prefix, sorted.
func (s *values) below(prefix string) []string {
	keys := map[string]bool{}
	for key := range s.said {
		keys[key] = strings.HasPrefix(key, prefix)
	}
	for name := range s.variables {
		if key := keyOf(name); key != "" {
			keys[key] = strings.HasPrefix(key, prefix)
		}
	}
	maps.DeleteFunc(keys, func(_ string, in bool) bool { return !in })
	return slices.Sorted(maps.Keys(keys))
}

// truth reads what Hermes, whose YAML is of version 1.1, and a .env call true.
func (v setting) truth() (is, ok bool) {
	switch value := v.value.(type) {
	case bool:
		return value, true
	case string:
		word := strings.ToLower(strings.TrimSpace(value))
		return slices.Contains(yes, word), slices.Contains(yes, word) || slices.Contains(no, word)
	case json.Number:
		return value != "0", value == "0" || value == "1"
	}
	return false, false
}

var (
	yes = []string{"true", "yes", "on", "1"}
	no  = []string{"false", "no", "off", "0", ""}
)

func (v setting) text() (string, bool) {
	switch value := v.value.(type) {
	case string:
		return strings.TrimSpace(value), true
	case json.Number:
		return string(value), true
	}
	return "", false
}

func (v setting) number() (float64, bool) {
	text, ok := v.text()
	n, err := strconv.ParseFloat(text, 64)
	return n, ok && err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// list reads a list of texts.
func (v setting) list() (texts []string, ok bool) {
	elements, ok := v.elements()
	for _, element := range elements {
		text, isText := element.(string)
		if !isText {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, ok
}

// elements reads a list; in a .env it is JSON.
func (v setting) elements() (elements []any, ok bool) {
	elements, ok = v.value.([]any)
	if text, isText := v.value.(string); isText {
		ok = json.Unmarshal([]byte(text), &elements) == nil
	}
	return elements, ok
}
