package pdp

import (
	"crypto/sha256"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// alikeKey stands for everything in an input document that a judgement depends on: the
// inputs that the policies read, and the backends, which their decision is held against. It is
// empty if the judgement is not to be remembered.
func (m *memo) alikeKey(document ast.Object, read inputParts) string {
	if m == nil {
		return ""
	}
	text, err := read.appendOf([]byte{'{'}, document)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// appendOf writes the parts of a document that are read, as JSON.
func (p inputParts) appendOf(to []byte, document ast.Object) (_ []byte, err error) {
	for _, name := range document.Keys() {
		key, _ := name.Value.(ast.String)
		within, read := p[string(key)]
		whole := read && within == nil || name.Equal(keyBackend)
		part, isObject := document.Get(name).Value.(ast.Object)
		switch {
		case whole || read && !isObject:
			to, err = appendJSON(append(appendString(to, string(key)), ':'), document.Get(name).Value)
		case read:
			to = append(appendString(to, string(key)), ':', '{')
			to, err = appendNamed(to, part, within)
			to = append(to, '}')
		}
		if err != nil {
			return nil, err
		}
		to = append(to, ',')
	}
	return to, nil
}

// appendNamed writes some of an object's entries.
func appendNamed(to []byte, part ast.Object, names map[string]bool) (_ []byte, err error) {
	for _, name := range part.Keys() {
		key, _ := name.Value.(ast.String)
		if !names[string(key)] {
			continue
		}
		if to, err = appendJSON(append(appendString(to, string(key)), ':'), part.Get(name).Value); err != nil {
			return nil, err
		}
		to = append(to, ',')
	}
	return to, nil
}

// keep remembers a sound decision, which was read from an answer of a size.
func (m *memo) keep(key string, d bailiff.Decision, size int) {
	if key != "" && size <= maxKept {
		m.judgements.Put(key, &kept{decision: cloned(d), size: len(key) + size})
	}
}
