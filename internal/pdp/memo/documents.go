package memo

import (
	"crypto/sha256"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Documents remembers decisions by what the policies read of input documents, and the backends, which their decision is held
// against: another session's request is not evaluated again where they would see no difference. A nil one remembers nothing. It is
// safe for concurrent use.
type Documents struct {
	read      dependencies.Input
	decisions *recent.Map[string, *sizedDecision]
}

// sizedDecision is one decision. No caller holds any part of it that can change.
type sizedDecision struct {
	decision bailiff.Decision
	size     int
}

// NewDocuments makes one for policies that read some parts, so many times as large as that of a sidecar.
func NewDocuments(read dependencies.Input, times int) *Documents {
	return &Documents{read, recent.NewSized[string](times*maxJudgements, times*maxJudgementBytes,
		func(d *sizedDecision) int { return d.size })}
}

// Enlarge is an empty one, so many times as large as that of a sidecar.
func (m *Documents) Enlarge(times int) *Documents {
	if m == nil {
		return nil
	}
	return NewDocuments(m.read, times)
}

// Key stands for everything in an input document that a decision depends on. It is empty if the decision is not to be remembered.
func (m *Documents) Key(input ast.Object) string {
	if m == nil {
		return ""
	}
	written := keyTexts.Get().(*[]byte)
	defer keyTexts.Put(written)
	text, err := appendParts(append((*written)[:0], '{'), input, m.read)
	if err != nil {
		return ""
	}
	*written = text
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// keyTexts are buffers for what keys are made of.
var keyTexts = sync.Pool{New: func() any { return new(make([]byte, 0, 8<<10)) }}

// Recall is the decision remembered under a key.
func (m *Documents) Recall(key string) (d bailiff.Decision, known bool) {
	if key == "" {
		return d, false
	}
	one, known := m.decisions.Get(key)
	if known {
		d = cloned(one.decision)
	}
	return d, known
}

// Keep remembers a sound decision, which was read from an answer.
func (m *Documents) Keep(key string, d bailiff.Decision, answer *ast.Term) {
	if key == "" {
		return
	}
	if size := document.SizeOf(answer); size <= largestJudgement {
		m.decisions.Put(key, &sizedDecision{cloned(d), len(key) + size})
	}
}

// appendParts writes the parts of a document that are read, as JSON.
func appendParts(to []byte, input ast.Object, parts dependencies.Input) (_ []byte, err error) {
	for _, name := range input.Keys() {
		key, _ := name.Value.(ast.String)
		within, read := parts[string(key)]
		whole := read && within == nil || key == "backend"
		part, isObject := input.Get(name).Value.(ast.Object)
		switch {
		case whole || read && !isObject:
			to, err = document.AppendJSON(append(document.AppendString(to, string(key)), ':'), input.Get(name).Value)
		case read:
			to = append(document.AppendString(to, string(key)), ':', '{')
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
		if to, err = document.AppendJSON(append(document.AppendString(to, string(key)), ':'), part.Get(name).Value); err != nil {
			return nil, err
		}
		to = append(to, ',')
	}
	return to, nil
}
