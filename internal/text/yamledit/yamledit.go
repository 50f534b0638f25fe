// Package yamledit changes single values of a YAML file where they stand, so that all else
// of its text stays as it was written: comments, order, blank lines.
//
// What is promised: after a change the document holds the new value at its path, and every
// other value is the one that it was; a change for which that cannot be had is an error, and
// the text stays as it was. Values are written on one line, as JSON-like flow.
//
// What is not here: reading values out for use, which is the reader's of each file.
package yamledit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Document is the text of one YAML document.
type Document struct {
	text string
	root ast.Node // nil where the text says nothing
	// said is what it says, where a change has found that out; it is handed out to no caller, who could change it.
	said map[string]any
}

// Parse reads a text that is a mapping, or empty.
func Parse(text string) (*Document, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Document{text: text, root: root}, nil
}

func parse(text string) (ast.Node, error) {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		var wrong yaml.Error
		if errors.As(err, &wrong) && wrong.GetToken() != nil {
			return nil, fmt.Errorf("line %d: %s", wrong.GetToken().Position.Line, wrong.GetMessage())
		}
		return nil, errors.New("it is no YAML")
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("it holds several documents")
	}
	if len(file.Docs) == 0 || saysNothing(file.Docs[0].Body) {
		return nil, nil
	}
	if _, ok := file.Docs[0].Body.(ast.MapNode); !ok {
		return nil, errors.New("it is no mapping")
	}
	return file.Docs[0].Body, nil
}

func saysNothing(node ast.Node) bool {
	switch node.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

// String is the text as it is now.
func (d *Document) String() string { return d.text }

// Node is the node at a path; nil if there is none.
func (d *Document) Node(path ...string) ast.Node {
	node, rest := Nearest(d.root, path)
	if len(rest) > 0 {
		return nil
	}
	return node
}

// Value is the value at a path as JSON has it; nil if there is none.
func (d *Document) Value(path ...string) (any, error) {
	var whole map[string]any
	if d.root != nil {
		if err := yaml.NodeToValue(d.root, &whole); err != nil {
			return nil, errors.New("it cannot be read as YAML")
		}
	}
	return at(plain(whole), path), nil
}

// at is the value at a path; nil if there is none.
func at(value any, path []string) any {
	for _, name := range path {
		entries, _ := value.(map[string]any)
		value = entries[name]
	}
	return value
}

// plain is a value as JSON reads it, so that numbers of all kinds compare.
func plain(value any) (same any) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &same)
	}
	if err != nil {
		return value
	}
	return same
}

// Set writes a value at a path, over the one that is there. Mappings that are missing on the
// way are made.
func (d *Document) Set(value any, path ...string) error {
	return d.edit(func(whole map[string]any) { put(whole, plain(value), path) }, func() { d.set(value, path) }, path)
}

// Append adds an element to the list at a path, which is made where it is missing.
func (d *Document) Append(value any, path ...string) error {
	said, err := d.Value(path...)
	if err != nil {
		return err
	}
	elements, _ := said.([]any)
	if len(elements) == 0 {
		return d.Set([]any{value}, path...)
	}
	return d.edit(func(whole map[string]any) { put(whole, append(elements, plain(value)), path) }, func() { d.append(value, path) }, path)
}

// Delete removes the entry at a path, if it is there.
func (d *Document) Delete(path ...string) error {
	last := len(path) - 1
	return d.DeleteAll(path[:last], path[last])
}

// DeleteAll removes those entries of the mapping at a path that are there.
func (d *Document) DeleteAll(path []string, names ...string) error {
	said, err := d.Value(path...)
	if err != nil {
		return err
	}
	entries, _ := said.(map[string]any)
	isNone := func(name string) bool {
		return entries[name] == nil && d.Node(append(slices.Clone(path), name)...) == nil
	}
	if names = slices.DeleteFunc(slices.Clone(names), isNone); len(names) == 0 {
		return nil
	}
	return d.edit(func(whole map[string]any) {
		if entries, ok := at(whole, path).(map[string]any); ok {
			maps.DeleteFunc(entries, func(name string, _ any) bool { return slices.Contains(names, name) })
		}
	}, func() { d.delete(d.Node(path...), names) }, append(slices.Clone(path), strings.Join(names, ", ")))
}

// edit changes the text, if what it then says is what it said before with the change.
func (d *Document) edit(change func(whole map[string]any), do func(), path []string) error {
	want := d.said
	if want == nil {
		before, err := d.Value()
		if err != nil {
			return err
		}
		if want, _ = before.(map[string]any); want == nil {
			want = map[string]any{}
		}
	}
	change(want)
	text, root := d.text, d.root
	do()
	var err error
	d.root, err = parse(d.text)
	var after any
	if err == nil {
		after, err = d.Value()
	}
	if d.said, _ = after.(map[string]any); err != nil || !reflect.DeepEqual(d.said, want) {
		d.text, d.root, d.said = text, root, nil
		return fmt.Errorf("%s cannot be changed where it stands", strings.Join(path, "."))
	}
	return nil
}

// put sets a value in a mapping.
func put(whole map[string]any, value any, path []string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := whole[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			whole[name] = inner
		}
		whole = inner
	}
	whole[path[len(path)-1]] = value
}

// Nearest is the last node on the way from one, and which part of the way is not there.
func Nearest(node ast.Node, path []string) (ast.Node, []string) {
	for i, name := range path {
		next := Member(node, name)
		if next == nil {
			return node, path[i:]
		}
		node = next.Value
	}
	return node, nil
}

// Member is the entry of a mapping with a name, or nil.
func Member(node ast.Node, name string) *ast.MappingValueNode {
	m, ok := node.(ast.MapNode)
	if !ok {
		return nil
	}
	for it := m.MapRange(); it.Next(); {
		if it.Key().GetToken().Value == name {
			return it.KeyValue()
		}
	}
	return nil
}

func (d *Document) set(value any, path []string) {
	node, rest := Nearest(d.root, path)
	if len(rest) > 0 && saysNothing(node) && len(rest) < len(path) { // a key without a value
		node, rest = d.Node(path[:len(path)-len(rest)-1]...), path[len(path)-len(rest)-1:]
		d.replaceEntry(node, rest[0], nested(value, rest[1:]))
		return
	}
	if len(rest) == 0 {
		d.replaceEntry(d.Node(path[:len(path)-1]...), path[len(path)-1], value)
		return
	}
	d.insert(node, rest[0], nested(value, rest[1:]))
}

// append adds an element as the last one.
func (d *Document) append(value any, path []string) {
	elements, ok := d.Node(path...).(*ast.SequenceNode)
	switch {
	case !ok: // which edit notices
	case elements.IsFlowStyle:
		end := d.offset(elements.End.Position.Line, elements.End.Position.Column)
		d.replace(end, end, ", "+Flow(value))
	default:
		end := d.entryEnd(Member(d.Node(path[:len(path)-1]...), path[len(path)-1]))
		column := elements.Start.Position.Column
		d.text = ended(d.text[:end]) + strings.Repeat(" ", column-1) + "- " + Flow(value) + "\n" + d.text[end:]
	}
}

// nested is a value in mappings of their own for each name.
func nested(value any, names []string) any {
	for i := len(names) - 1; i >= 0; i-- {
		value = map[string]any{names[i]: value}
	}
	return value
}

// insert adds an entry to a mapping, as its last one.
func (d *Document) insert(node ast.Node, name string, value any) {
	entry := Flow(name) + ": " + Flow(value)
	m, _ := node.(*ast.MappingNode)
	switch {
	case m != nil && m.IsFlowStyle:
		end := d.offset(m.End.Position.Line, m.End.Position.Column)
		before := ", "
		if len(m.Values) == 0 {
			before = ""
		}
		d.replace(end, end, before+entry)
	case node == nil:
		d.text = ended(d.text) + entry + "\n"
	default:
		lines, ok := node.(ast.MapNode)
		if !ok {
			return // which edit notices
		}
		column, end := 1, 0
		for it := lines.MapRange(); it.Next(); {
			column, end = it.Key().GetToken().Position.Column, d.entryEnd(it.KeyValue())
		}
		d.text = ended(d.text[:end]) + strings.Repeat(" ", column-1) + entry + "\n" + d.text[end:]
	}
}

// ended is a text with the end of its last line.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// replaceEntry writes an entry's value anew.
func (d *Document) replaceEntry(node ast.Node, name string, value any) {
	entry := Member(node, name)
	if start, end, ok := d.span(entry.Value); ok {
		d.replace(start, end, Flow(value))
		return
	}
	at := entry.Key.GetToken().Position
	start := d.offset(at.Line, at.Column)
	d.replace(start, d.entryEnd(entry), Flow(name)+": "+Flow(value)+"\n")
}

// span is where a value stands that is a word, a number, or in braces or brackets.
func (d *Document) span(node ast.Node) (start, end int, ok bool) {
	at := node.GetToken().Position
	start = d.offset(at.Line, at.Column)
	switch n := node.(type) {
	case *ast.MappingNode:
		if n.IsFlowStyle {
			return start, d.offset(n.End.Position.Line, n.End.Position.Column) + 1, true
		}
	case *ast.SequenceNode:
		if n.IsFlowStyle {
			return start, d.offset(n.End.Position.Line, n.End.Position.Column) + 1, true
		}
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		written := strings.TrimSpace(node.GetToken().Origin)
		return start, start + len(written), strings.HasPrefix(d.text[start:], written)
	}
	return 0, 0, false
}

// entryEnd is where the lines of an entry end that stands on lines of its own: before the
// first one that is not further in, but for the elements of a list, whose lines may begin where
// the key does. Blank lines and comments before that are not part of it.
func (d *Document) entryEnd(entry *ast.MappingValueNode) int {
	at := entry.Key.GetToken().Position
	_, isList := entry.Value.(*ast.SequenceNode)
	end := d.lineEnd(d.offset(at.Line, 1))
	if _, last, ok := d.span(entry.Value); ok {
		end = max(end, d.lineEnd(last-1))
	}
	for from := end; from < len(d.text); from = d.lineEnd(from) {
		line := strings.TrimRight(d.text[from:d.lineEnd(from)], "\r\n")
		bare := strings.TrimLeft(line, " ")
		within := len(line)-len(bare) >= at.Column || isList && len(line)-len(bare) == at.Column-1 && strings.HasPrefix(bare, "-")
		switch {
		case bare == "" || strings.HasPrefix(bare, "#") && !within:
		case !within:
			return end
		default:
			end = d.lineEnd(from)
		}
	}
	return end
}

// lineEnd is where the line of a place ends, with what ends it.
func (d *Document) lineEnd(from int) int {
	if i := strings.IndexByte(d.text[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(d.text)
}

// delete takes entries out of a mapping, from its end on, so that the places of the others hold.
func (d *Document) delete(node ast.Node, names []string) {
	var entries []*ast.MappingValueNode
	for _, name := range names {
		if entry := Member(node, name); entry != nil { // which edit notices
			entries = append(entries, entry)
		}
	}
	slices.SortFunc(entries, func(a, b *ast.MappingValueNode) int {
		return cmp.Compare(b.Key.GetToken().Position.Offset, a.Key.GetToken().Position.Offset)
	})
	for _, entry := range entries {
		at := entry.Key.GetToken().Position
		if m, ok := node.(*ast.MappingNode); !ok || !m.IsFlowStyle {
			d.replace(d.offset(at.Line, 1), d.entryEnd(entry), "")
		} else if _, end, ok := d.span(entry.Value); ok {
			d.cut(d.offset(at.Line, at.Column), end)
		}
	}
}

// cut takes a part out of a list in braces or brackets, with one comma beside it.
func (d *Document) cut(start, end int) {
	rest := d.text[end:]
	if trimmed := strings.TrimLeft(rest, " "); strings.HasPrefix(trimmed, ",") {
		end = len(d.text) - len(strings.TrimLeft(trimmed[1:], " "))
	} else if before := strings.TrimRight(d.text[:start], " "); strings.HasSuffix(before, ",") {
		start = len(before) - 1
	}
	d.replace(start, end, "")
}

func (d *Document) replace(start, end int, text string) {
	d.text = d.text[:start] + text + d.text[end:]
}

// offset is where a line and column are in the text; columns count characters.
func (d *Document) offset(line, column int) int {
	start := 0
	for range line - 1 {
		start += strings.IndexByte(d.text[start:], '\n') + 1
	}
	within, _, _ := strings.Cut(d.text[start:], "\n")
	return start + len(string([]rune(within)[:column-1]))
}
