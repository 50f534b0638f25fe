package hermes

import (
	"errors"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
	"github.com/bailiff-dev/bailiff/policies"
)

// tables are those of the shipped data.yaml, changed where they stand. The first fault of a change is kept.
type tables struct {
	doc   *yamledit.Document
	fault error
}

func shippedTables() tables {
	text, err := policies.FS.ReadFile("data.yaml")
	doc, wrong := yamledit.Parse(string(text))
	if err := errors.Join(err, wrong); err != nil {
		panic(err) // they are part of this program
	}
	return tables{doc: doc}
}

// inTables is a path below the tables.
func inTables(path []string) []string { return slices.Concat([]string{"bailiff", "tables"}, path) }

// get is the node at a path; nil if there is none.
func (t *tables) get(path ...string) ast.Node { return t.doc.Node(inTables(path)...) }

// set writes a value at a path, over the one that is there.
func (t *tables) set(value any, path ...string) { t.keep(t.doc.Set(value, inTables(path)...)) }

// remove takes entries out of a table.
func (t *tables) remove(table string, names []string) {
	t.keep(t.doc.DeleteAll(inTables([]string{table}), names...))
}

func (t *tables) keep(err error) {
	if t.fault == nil {
		t.fault = err
	}
}
