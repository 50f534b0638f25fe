package document

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// Parse reads an input document of the decision log.
func Parse(input []byte) (ast.Object, error) {
	value, err := ast.ValueFromReader(bytes.NewReader(input))
	if err != nil {
		return nil, fmt.Errorf("reading an input document: %w", err)
	}
	document, ok := value.(ast.Object)
	if !ok {
		return nil, errors.New("reading an input document: it is no object")
	}
	return document, nil
}

// Circumstances reads from an input document what is to be known beside it.
func Circumstances(document ast.Object) (at bailiff.Circumstances, err error) {
	if at.Time, err = Time(document); err != nil {
		return at, err
	}
	available, ok := At(document, "backend", "available").(ast.Object)
	if !ok {
		return at, errors.New("/backend/available is missing")
	}
	at.Backends = make(map[string]bailiff.BackendState, available.Len())
	available.Foreach(func(name, _ *ast.Term) {
		if s, ok := name.Value.(ast.String); ok {
			at.Backends[string(s)] = bailiff.BackendState{}
		}
	})
	return at, nil
}

// Time is when the request of an input document was made.
func Time(document ast.Object) (at time.Time, err error) {
	instant, ok := At(document, "time").(ast.String)
	if !ok {
		return at, errors.New("/time is missing")
	}
	if at, err = time.Parse(time.RFC3339Nano, string(instant)); err != nil {
		return at, fmt.Errorf("/time: %w", err)
	}
	return at, nil
}

// At is what stands at the end of a path of keys; nil if nothing does.
func At(document ast.Object, path ...string) ast.Value {
	keys := make(ast.Ref, len(path))
	for i, name := range path {
		keys[i] = ast.StringTerm(name)
	}
	value, err := document.Find(keys)
	if err != nil {
		return nil
	}
	return value
}
