package memo

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Connections remembers judgements of connections, each by all of its input document but the time. A nil one remembers
// nothing. It is safe for concurrent use.
type Connections struct {
	judgements *recent.Map[string, bailiff.ConnectionJudgement]
}

// NewConnections remembers nothing yet.
func NewConnections() *Connections {
	return &Connections{recent.New[string, bailiff.ConnectionJudgement](maxJudgements)}
}

// Key is all that a judgement depends on; empty where it is not remembered.
func (m *Connections) Key(input ast.Object) string {
	if m == nil {
		return ""
	}
	before, after, err := document.NewJSON(input).Around()
	if err != nil || len(before)+len(after) > largestJudgement {
		return ""
	}
	return string(before) + string(after)
}

// Recall is the judgement remembered under a key.
func (m *Connections) Recall(key string) (j bailiff.ConnectionJudgement, known bool) {
	if key == "" {
		return j, false
	}
	j, known = m.judgements.Get(key)
	return clonedConnection(j), known
}

// Keep remembers a judgement, if it is sound.
func (m *Connections) Keep(key string, j bailiff.ConnectionJudgement) {
	if key != "" && j.Fault == nil {
		m.judgements.Put(key, clonedConnection(j))
	}
}

func clonedConnection(j bailiff.ConnectionJudgement) bailiff.ConnectionJudgement {
	j.Denials, j.Approval = clonedReasons(j.Denials), clonedTerms(j.Approval)
	return j
}
