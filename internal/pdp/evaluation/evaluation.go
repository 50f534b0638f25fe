// Package evaluation asks a query of policies within a limit of processor time.
//
// Promised: a busy machine denies nothing, since what counts is the time of the evaluation's own thread. As many evaluations go on at
// once as there are processors; to wait for a slot does not count. One that takes long lets the next one begin beside it, so that
// policies which never end hold up no other request for long.
package evaluation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Retry tries once more where the machine was so busy that an evaluation got no processor.
func Retry(try func() (*ast.Term, error)) (*ast.Term, error) {
	answer, err := try()
	if errors.Is(err, errStarved) {
		answer, err = try()
	}
	return answer, err
}

// ErrNoAnswer is why an evaluation was cancelled whose time was over, errStarved that it had not had its time.
var (
	ErrNoAnswer = errors.New("no answer")
	errStarved  = fmt.Errorf("%w for want of a processor", ErrNoAnswer)
)

// Run asks a query about an input document; the answer is nil where it is
// undefined. An evaluation whose thread exceeds the limit is cancelled.
func Run(ctx context.Context, query rego.PreparedEvalQuery, input ast.Value, at time.Time, limit time.Duration,
	options ...rego.EvalOption) (*ast.Term, error) {
	slot, err := Take(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("evaluating policies: the request was given up: %w", err)
	}
	defer slot.End()
	defer context.AfterFunc(ctx, slot.Cancel.Cancel)()
	results, err := query.Eval(ctx, append(options, rego.EvalParsedInput(input), rego.EvalTime(at),
		rego.EvalExternalCancel(slot.Cancel), rego.EvalMetrics(metrics.NoOp()))...)
	switch {
	case topdown.IsCancel(err) && ctx.Err() != nil:
		return nil, fmt.Errorf("evaluating policies: the request was given up: %w", context.Cause(ctx))
	case topdown.IsCancel(err) && slot.isStarved():
		return nil, fmt.Errorf("evaluating policies: %w within %s", errStarved, WallFactor*limit)
	case topdown.IsCancel(err):
		return nil, fmt.Errorf("evaluating policies: %w within %s", ErrNoAnswer, limit)
	case err != nil:
		return nil, fmt.Errorf("evaluating policies: %w", err)
	case len(results) == 0:
		return nil, nil
	}
	return results[0].Expressions[0].Value.(*ast.Term), nil
}
