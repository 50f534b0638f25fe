package hermes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// tables is the text of data.yaml, which is edited where it stands, so that its
// comments stay too.
type tables struct {
	text string
	root ast.Node // of the text; nil where it has to be read
}

// inTables leads to what the tables hold.
var inTables = []string{"bailiff", "tables"}

// get is the node at a path below the tables; nil if there is none.
func (t *tables) get(path ...string) ast.Node {
	node, rest := yamledit.Nearest(t.read(), append(inTables, path...))
	if len(rest) > 0 {
		return nil
	}
	return node
}

// read parses the text.
func (t *tables) read() ast.Node {
	if t.root == nil {
		file, err := parser.ParseBytes([]byte(t.text), 0)
		if err != nil || len(file.Docs) != 1 {
			panic(fmt.Sprintf("editing the shipped tables: %v", err)) // they are part of this program
		}
		t.root = file.Docs[0].Body
	}
	return t.root
}

// replace puts a text in the place of another.
func (t *tables) replace(start, end int, text string) {
	t.text, t.root = t.text[:start]+text+t.text[end:], nil
}

// set writes a value at a path below the tables, over the one that is there. All
// of the path but its last name must be there.
func (t *tables) set(value any, path ...string) {
	written := yamledit.Flow(value)
	node, rest := yamledit.Nearest(t.read(), append(inTables, path...))
	switch m, _ := node.(*ast.MappingNode); {
	case len(rest) == 0:
		start, end := t.span(node)
		t.replace(start, end, written)
	case m.IsFlowStyle:
		end := t.offset(m.End.Position.Line, m.End.Position.Column)
		before := ", "
		if len(m.Values) == 0 {
			before = ""
		}
		t.replace(end, end, before+yamledit.Flow(rest[0])+": "+written)
	default:
		first := m.Values[0].Key.GetToken().Position
		start := t.offset(first.Line, 1)
		t.replace(start, start, strings.Repeat(" ", first.Column-1)+yamledit.Flow(rest[0])+": "+written+"\n")
	}
}

// span is where a value stands that is a word, a number, or in braces or brackets.
func (t *tables) span(node ast.Node) (start, end int) {
	at := node.GetToken().Position
	start = t.offset(at.Line, at.Column)
	switch n := node.(type) {
	case *ast.MappingNode:
		return start, t.offset(n.End.Position.Line, n.End.Position.Column) + 1
	case *ast.SequenceNode:
		return start, t.offset(n.End.Position.Line, n.End.Position.Column) + 1
	}
	return start, start + len(strings.TrimSpace(node.GetToken().Origin))
}

// offset is where a line and column are in the text; columns count characters.
func (t *tables) offset(line, column int) int {
	start := 0
	for range line - 1 {
		start += strings.IndexByte(t.text[start:], '\n') + 1
	}
	within, _, _ := strings.Cut(t.text[start:], "\n")
	return start + len(string([]rune(within)[:column-1]))
}

// remove takes entries on lines of their own out of a table, from its end on, so that the places of the others hold.
func (t *tables) remove(table string, names []string) {
	var entries []*token.Position
	for _, name := range names {
		entries = append(entries, yamledit.Member(t.get(table), name).Key.GetToken().Position)
	}
	slices.SortFunc(entries, func(a, b *token.Position) int { return b.Line - a.Line })
	for _, at := range entries {
		start := t.offset(at.Line, 1)
		t.replace(start, t.entryEnd(start, at.Column), "")
	}
}

// entryEnd is where the lines end that belong to an entry in a column.
func (t *tables) entryEnd(start, column int) int {
	end := start
	for {
		end += strings.IndexByte(t.text[end:], '\n') + 1
		line, _, _ := strings.Cut(t.text[end:], "\n")
		if within := len(line) - len(strings.TrimLeft(line, " ")); within < column || line == "" {
			return end
		}
	}
}
