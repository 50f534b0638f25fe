package memo

import (
	"crypto/sha256"
	"maps"
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
	read      dependencies.Input // with the backends
	decisions *recent.Map[string, *sizedDecision]
}

// sizedDecision is one decision. No caller holds any part of it that can change.
type sizedDecision struct {
	decision bailiff.Decision
	size     int
}

// NewDocuments makes one for policies that read some parts, so many times as large as that of a sidecar.
func NewDocuments(read dependencies.Input, times int) *Documents {
	parts := maps.Clone(read)
	parts["backend"] = nil
	return &Documents{parts, recent.NewSized[string](times*maxJudgements, times*maxJudgementBytes,
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
func (m *Documents) Key(input document.JSON) string {
	if m == nil {
		return ""
	}
	written := keyTexts.Get().(*[]byte)
	defer keyTexts.Put(written)
	text, err := input.AppendParts((*written)[:0], m.read)
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
