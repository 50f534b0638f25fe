package pdp

import (
	"fmt"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unwritten is an input document that becomes JSON only when somebody wants to read it.
type unwritten struct{ document ast.Value }

// MarshalJSON writes the document as the policies saw it.
func (u unwritten) MarshalJSON() ([]byte, error) { return appendJSON(nil, u.document) }

// around writes the document like MarshalJSON, but in two parts: what comes
// before the value of one of its keys, and what comes after it.
func (u unwritten) around(key *ast.Term) (before, after []byte, err error) {
	document, ok := u.document.(ast.Object)
	if !ok || document.Get(key) == nil {
		return nil, nil, fmt.Errorf("writing a document: it has no %v", key)
	}
	to := []byte{'{'}
	for n, k := range document.Keys() {
		if to, err = appendKey(to, n, k); err != nil {
			return nil, nil, err
		}
		if k.Equal(key) {
			before, to = to, nil
			continue
		}
		if to, err = appendJSON(to, document.Get(k).Value); err != nil {
			return nil, nil, err
		}
	}
	return before, append(to, '}'), nil
}

func appendJSON(to []byte, v ast.Value) ([]byte, error) {
	switch v := v.(type) {
	case ast.String:
		return appendString(to, string(v)), nil
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
		if to, err = appendJSON(to, list.Elem(i).Value); err != nil {
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
		if to, err = appendJSON(to, o.Get(key).Value); err != nil {
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
	return append(appendString(to, string(name)), ':'), nil
}

const digits = "0123456789abcdef"

// appendString quotes a string as JSON.
func appendString(to []byte, s string) []byte {
	to = append(to, '"')
	done := 0
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		if escape := escaped(c, size); escape != nil {
			to = append(append(to, s[done:i]...), escape...)
			done = i + size
		}
		i += size
	}
	return append(append(to, s[done:]...), '"')
}

func escaped(c rune, size int) []byte {
	switch {
	case c == '"' || c == '\\':
		return []byte{'\\', byte(c)}
	case c == '\n':
		return []byte(`\n`)
	case c == '\t':
		return []byte(`\t`)
	case c < ' ':
		return []byte{'\\', 'u', '0', '0', digits[c>>4], digits[c&15]}
	case c == utf8.RuneError && size == 1:
		return []byte(`\ufffd`)
	}
	return nil
}
