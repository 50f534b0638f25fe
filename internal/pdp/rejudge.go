package pdp

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/answers"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// Try loads policies for judging only. Their files may be writable by other users, and tests are
// not read. The embedded ones are not checked again, as in [Open]. Everything that is wrong with
// them is in the error, which is then a [source.Faults].
// Zero as the limit of an evaluation means 250 ms.
func Try(ctx context.Context, c Config) (*PDP, error) {
	compile := released(false)
	if len(c.Paths) > 0 {
		files, faults := source.ReadAll(c.Paths)
		if len(faults) > 0 {
			return nil, faults.Sorted()
		}
		next, faults := policyset.ParseUntested(files)
		if len(faults) > 0 {
			return nil, faults
		}
		compile = compilingOf(next, false, func(_ context.Context, compiled *ast.Compiler) regotest.Outcome {
			return regotest.Outcome{Faults: next.CheckDeciding(compiled), Lasts: true}
		})
	}
	s, faults := compile(ctx)
	if len(faults) > 0 {
		return nil, faults
	}
	s.documents = s.documents.Enlarge(8) // a log holds more different requests than a sidecar sees in a while
	p := prepared(c)
	p.inForce.Store(s)
	return p, nil
}

// OnTrial opens policies for judging only, which [PDP.Watch] may follow. Faults are in the
// status; until files without any are seen, nothing can be judged.
func OnTrial(ctx context.Context, c Config) *PDP {
	p := prepared(c)
	p.inForce.Store(&snapshot{})
	p.reload(ctx, true)
	return p
}

// errNoPolicies is the fault of policies on trial of which none could be loaded yet.
var errNoPolicies = errors.New("the policies have faults")

// Rejudge judges by an input document of the decision log, as JSON: its facts, its
// time and the backends that there were are the document's, and no guard is asked.
// A document that no policy can judge is an error; a fault of the policies is a denial, as in
// [PDP.Decide].
func (p *PDP) Rejudge(ctx context.Context, input []byte) (d bailiff.Decision, err error) {
	s := p.inForce.Load()
	defer func() {
		if cause := recover(); cause != nil {
			d, _ = answers.Failure(fmt.Errorf("judging an input document: panic: %v", cause))
		}
		d.Revision = s.revision
	}()
	if s.compiler == nil {
		return d, errNoPolicies
	}
	doc, err := document.Parse(input)
	if err != nil {
		return d, err
	}
	at, err := document.Circumstances(doc)
	if err != nil {
		return d, fmt.Errorf("reading an input document: %w", err)
	}
	return p.again(ctx, s, doc, at)
}

// again judges a document, unless one was judged that is the same to the policies.
func (p *PDP) again(ctx context.Context, s *snapshot, doc ast.Object, at bailiff.Circumstances) (bailiff.Decision, error) {
	key := s.documents.Key(document.NewJSON(doc))
	if d, known := s.documents.Recall(key); known {
		return d, nil
	}
	answer, err := s.decide(ctx, doc, at.Time, p.config.EvalTimeout)
	if ctx.Err() != nil {
		return bailiff.Decision{}, ctx.Err()
	}
	d, fault := answers.Decision(answer, err, at.Backends)
	if fault == nil {
		s.documents.Keep(key, d, answer)
	}
	return d, nil
}
