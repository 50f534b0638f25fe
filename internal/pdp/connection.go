package pdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/answers"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
)

// connectionPoint is the document that is asked about connections out of sandboxes.
var connectionPoint = ast.MustParseRef("data.bailiff.connection")

const insteadOfUnjudged = "Have the security team add the rule bailiff.connection; until then no sandbox has a way out."

// Connection judges a connection out of a sandbox, or a request on one. It never fails: a
// fault is a denial that says so.
func (p *PDP) Connection(ctx context.Context, c bailiff.Connection) (j bailiff.ConnectionJudgement) {
	s := p.inForce.Load()
	defer func() {
		if cause := recover(); cause != nil {
			j = answers.FailedConnection(fmt.Errorf("judging a connection: panic: %v", cause))
			p.config.Log.Error("judging a connection panicked", "cause", cause, "stack", string(debug.Stack()))
		}
		j.Revision = s.revision
	}()
	return p.judgeConnection(ctx, s, document.OfConnection(c), c.Time)
}

// RejudgeConnection judges by an input document about a connection of the decision log, as
// JSON. A document that no policy can judge is an error; a fault of the policies is a denial.
func (p *PDP) RejudgeConnection(ctx context.Context, input []byte) (j bailiff.ConnectionJudgement, err error) {
	s := p.inForce.Load()
	defer func() {
		if cause := recover(); cause != nil {
			j = answers.FailedConnection(fmt.Errorf("judging a connection: panic: %v", cause))
		}
		j.Revision = s.revision
	}()
	if s.compiler == nil {
		return j, errNoPolicies
	}
	doc, err := document.Parse(input)
	if err != nil {
		return j, err
	}
	at, err := document.Time(doc)
	if err != nil {
		return j, fmt.Errorf("reading an input document: %w", err)
	}
	j = p.judgeConnection(ctx, s, doc, at)
	return j, ctx.Err()
}

// judgeConnection asks the policies, unless they are known to answer the same.
func (p *PDP) judgeConnection(ctx context.Context, s *snapshot, input ast.Object, at time.Time) (j bailiff.ConnectionJudgement) {
	if s.connection == nil {
		denied := answers.Denial("policy.no_connections", "The policies have no rule about connections.", insteadOfUnjudged)
		return bailiff.ConnectionJudgement{Denials: denied.Denials}
	}
	key := s.connections.Key(input)
	if known, ok := s.connections.Recall(key); ok {
		return known
	}
	answer, err := evaluation.Run(ctx, *s.connection, input, at, p.config.EvalTimeout)
	p.noteTime(err)
	if err == nil && answer == nil {
		err = errors.New("evaluating policies: the document about connections is undefined")
	}
	if err != nil {
		return answers.FailedConnection(err)
	}
	j = answers.Connection(answer)
	s.connections.Keep(key, j)
	return j
}

// ConnectionInput is the input document about a connection, as it is logged.
func ConnectionInput(c bailiff.Connection) json.Marshaler {
	return document.NewJSON(document.OfConnection(c))
}
