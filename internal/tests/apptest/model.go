package apptest

import (
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/scripted"
)

// Model is a scripted model with which a test's agents work.
type Model struct {
	*scripted.Model
	calls int
}

// object is a piece of JSON on its way out.
type object map[string]any

// Call is one tool call.
type Call = scripted.Call

// ServeModel starts a model that asks for these calls, until the test ends.
func ServeModel(tb testing.TB, calls ...Call) *Model {
	tb.Helper()
	m, err := scripted.Serve(calls...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &Model{m, len(calls)}
}
