package document

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"
)

// JSON is an input document that becomes JSON only when it is needed.
type JSON struct{ Document ast.Value }

// MarshalJSON writes the document as the policies saw it, but for facts of the session's history that are in the log already.
func (u JSON) MarshalJSON() ([]byte, error) {
	document, ok := u.Document.(ast.Object)
	if !ok || document.Get(KeyHistory) == nil {
		return AppendJSON(nil, u.Document)
	}
	before, after, err := u.Around(KeyTime)
	if err != nil {
		return nil, err
	}
	if before, err = AppendJSON(before, document.Get(KeyTime).Value); err != nil {
		return nil, err
	}
	return AppendHistory(append(before, after...), document.Get(KeyHistory).Value)
}

// AppendHistory adds to a document as JSON what the log has of a session's history.
func AppendHistory(to []byte, history ast.Value) ([]byte, error) {
	to, err := appendKey(to[:len(to)-1], 1, KeyHistory)
	if err == nil {
		to, err = AppendJSON(to, logged(history))
	}
	return append(to, '}'), err
}

// Around writes the document like MarshalJSON, but in two parts: what comes
// before the value of one of its keys, and what comes after it. The session's history is in neither.
func (u JSON) Around(key *ast.Term) (before, after []byte, err error) {
	document, ok := u.Document.(ast.Object)
	if !ok || document.Get(key) == nil {
		return nil, nil, fmt.Errorf("writing a document: it has no %v", key)
	}
	written := texts.Get().(*[]byte)
	defer texts.Put(written)
	to := append((*written)[:0], '{')
	for n, k := range document.Keys() {
		if k.Equal(KeyHistory) {
			continue
		}
		if to, err = appendKey(to, n, k); err != nil {
			return nil, nil, err
		}
		if k.Equal(key) {
			before, *written, to = bytes.Clone(to), to, nil
			continue
		}
		if to, err = AppendJSON(to, document.Get(k).Value); err != nil {
			return nil, nil, err
		}
	}
	return before, append(to, '}'), nil
}

// texts are buffers for what is written of documents.
var texts = sync.Pool{New: func() any { return new(make([]byte, 0, 8<<10)) }}

// AppendJSON writes a value.
func AppendJSON(to []byte, v ast.Value) ([]byte, error) {
	switch v := v.(type) {
	case ast.String:
		return AppendString(to, string(v)), nil
	case ast.Boolean:
		return fmt.Append(to, bool(v)), nil
	case ast.Number:
		return append(to, v...), nil
	case ast.Null:
		return append(to, "null"...), nil
	case *ast.Array:
		return appendList(to, v)
	case ast.Set:
		return appendList(to, v.Sorted())
	case ast.Object:
		return appendObject(to, v)
	}
	return nil, fmt.Errorf("writing a document: it holds a %s", ast.ValueName(v))
}

func appendList(to []byte, list *ast.Array) (_ []byte, err error) {
	to = append(to, '[')
	for i := range list.Len() {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = AppendJSON(to, list.Elem(i).Value); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}

func appendObject(to []byte, o ast.Object) (_ []byte, err error) {
	to = append(to, '{')
	for i, key := range o.Keys() {
		if to, err = appendKey(to, i, key); err != nil {
			return nil, err
		}
		if to, err = AppendJSON(to, o.Get(key).Value); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func appendKey(to []byte, i int, key *ast.Term) ([]byte, error) {
	name, ok := key.Value.(ast.String)
	if !ok {
		return nil, fmt.Errorf("writing a document: key %v is no string", key)
	}
	if i > 0 {
		to = append(to, ',')
	}
	return append(AppendString(to, string(name)), ':'), nil
}

// AppendString quotes a string as JSON. Bytes that are no UTF-8 are replaced, which is all
// that the error says.
func AppendString(to []byte, s string) []byte {
	to, _ = jsontext.AppendQuote(to, s)
	return to
}
