package document

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"
)

// JSON is an input document as JSON. It is written once, for the decision log and for those who remember judgements; the session's
// history, which grows with the session, is written when it is needed.
type JSON struct {
	document ast.Object
	text     []byte // without the history
	parts    []part // in the order of the text
	fault    error
}

// part is where one entry of the document stands, or one of the entries of an object there, with its name.
type part struct {
	name, below string
	from, to    int
}

// NewJSON writes a document.
func NewJSON(document ast.Object) JSON {
	written := texts.Get().(*[]byte)
	defer texts.Put(written)
	w := writer{text: append((*written)[:0], '{'), parts: make([]part, 0, 64)}
	fault := w.document(document)
	*written = w.text[:0]
	return JSON{document, bytes.Clone(w.text), w.parts, fault}
}

// texts are buffers for what is written of documents.
var texts = sync.Pool{New: func() any { return new(make([]byte, 0, 8<<10)) }}

// writer notes where the parts of a document stand.
type writer struct {
	text  []byte
	parts []part
}

func (w *writer) document(document ast.Object) (err error) {
	for _, key := range document.Keys() {
		if key.Equal(KeyHistory) {
			continue
		}
		if w.text, err = appendKey(w.text, len(w.text)-1, key); err != nil {
			return err
		}
		name := string(key.Value.(ast.String))
		n, from := len(w.parts), len(w.text)
		w.parts = append(w.parts, part{name: name, from: from})
		if object, ok := document.Get(key).Value.(ast.Object); ok {
			err = w.object(name, object)
		} else {
			w.text, err = AppendJSON(w.text, document.Get(key).Value)
		}
		if err != nil {
			return err
		}
		w.parts[n].to = len(w.text)
	}
	w.text = append(w.text, '}')
	return nil
}

func (w *writer) object(name string, o ast.Object) (err error) {
	w.text = append(w.text, '{')
	for i, key := range o.Keys() {
		if w.text, err = appendKey(w.text, i, key); err != nil {
			return err
		}
		from := len(w.text)
		if w.text, err = AppendJSON(w.text, o.Get(key).Value); err != nil {
			return err
		}
		w.parts = append(w.parts, part{name, string(key.Value.(ast.String)), from, len(w.text)})
	}
	w.text = append(w.text, '}')
	return nil
}

// MarshalJSON is the document as the policies saw it, but for facts of the session's history that are in the log already.
func (u JSON) MarshalJSON() ([]byte, error) {
	history := u.document.Get(KeyHistory)
	if u.fault != nil || history == nil {
		return u.text, u.fault
	}
	return AppendHistory(bytes.Clone(u.text), history.Value)
}

// AppendHistory adds to a document as JSON what the log has of a session's history.
func AppendHistory(to []byte, history ast.Value) ([]byte, error) {
	to, err := appendKey(to[:len(to)-1], 1, KeyHistory)
	if err == nil {
		to, err = AppendJSON(to, logged(history))
	}
	return append(to, '}'), err
}

// Around is the document in two parts: what comes before the value of its time, and what comes after it. The session's history is in
// neither.
func (u JSON) Around() (before, after []byte, err error) {
	if u.fault != nil {
		return nil, nil, u.fault
	}
	for _, p := range u.parts {
		if p.name == "time" && p.below == "" {
			return u.text[:p.from:p.from], u.text[p.to:], nil
		}
	}
	return nil, nil, fmt.Errorf("writing a document: it has no %v", KeyTime)
}

// AppendParts writes the entries of the document with some names, and of the objects there only what has other names of it, where
// there are any. No two documents that differ in these are written alike.
func (u JSON) AppendParts(to []byte, names map[string]map[string]bool) ([]byte, error) {
	for _, p := range u.parts {
		within, read := names[p.name]
		isRead := within[p.below]
		if p.below == "" {
			isRead = read && (within == nil || u.text[p.from] != '{')
		}
		if isRead {
			to = append(append(to, p.name...), 0)
			to = append(append(to, p.below...), 0)
			to = append(append(to, u.text[p.from:p.to]...), 0)
		}
	}
	if within, read := names[string(KeyHistory.Value.(ast.String))]; read && u.fault == nil {
		return appendHistory(to, u.document.Get(KeyHistory), within)
	}
	return to, u.fault
}

// appendHistory writes the parts of a history that have some names, or all of it.
func appendHistory(to []byte, history *ast.Term, names map[string]bool) (_ []byte, err error) {
	if history == nil {
		return to, nil
	}
	all, ok := history.Value.(ast.Object)
	if names == nil || !ok {
		return AppendJSON(to, history.Value)
	}
	for _, name := range all.Keys() {
		if key, _ := name.Value.(ast.String); names[string(key)] {
			if to, err = AppendJSON(append(append(to, key...), 0), all.Get(name).Value); err != nil {
				return nil, err
			}
			to = append(to, 0)
		}
	}
	return to, nil
}

// AppendJSON writes a value.
func AppendJSON(to []byte, v ast.Value) ([]byte, error) {
	switch v := v.(type) {
	case ast.String:
		return AppendString(to, string(v)), nil
	case ast.Boolean:
		return strconv.AppendBool(to, bool(v)), nil
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
