package pdp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// Try loads policies for judging only. Their files may be writable by other users, and they
// need no tests. Everything that is wrong with them is in the error, which is then a [Faults].
// Zero as the limit of an evaluation means 250 ms.
func Try(ctx context.Context, c Config) (*PDP, error) {
	files, faults := load(readAll, c.Paths)
	if len(faults) > 0 {
		return nil, faults
	}
	s, faults := newSnapshot(ctx, files, false, checksOf(files))
	if len(faults) > 0 {
		return nil, faults
	}
	if s.alike != nil {
		s.alike = newMemo(8) // a log holds more different requests than a sidecar sees in a while
	}
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
			d, _ = failed(fmt.Errorf("judging an input document: panic: %v", cause))
		}
		d.Revision = s.revision
	}()
	if s.compiler == nil {
		return d, errNoPolicies
	}
	document, err := readDocument(input)
	if err != nil {
		return d, err
	}
	at, err := circumstancesIn(document)
	if err != nil {
		return d, fmt.Errorf("reading an input document: %w", err)
	}
	return p.again(ctx, s, document, at)
}

func readDocument(input []byte) (ast.Object, error) {
	value, err := ast.ValueFromReader(bytes.NewReader(input))
	if err != nil {
		return nil, fmt.Errorf("reading an input document: %w", err)
	}
	document, ok := value.(ast.Object)
	if !ok {
		return nil, errors.New("reading an input document: it is no object")
	}
	return document, nil
}

// again judges a document, unless one was judged that is the same to the policies.
func (p *PDP) again(ctx context.Context, s *snapshot, document ast.Object, at bailiff.Circumstances) (bailiff.Decision, error) {
	key := s.alike.alikeKey(document, s.inputsRead)
	if known := s.alike.recall(key); known != nil {
		return cloned(known.decision), nil
	}
	answer, err := s.decide(ctx, document, at.Time, p.config.EvalTimeout)
	if ctx.Err() != nil {
		return bailiff.Decision{}, ctx.Err()
	}
	d, fault := concluded(answer, err, at.Backends)
	if fault == nil {
		s.alike.keep(key, d, sizeOf(answer))
	}
	return d, nil
}

// circumstancesIn reads from an input document what is to be known beside it.
func circumstancesIn(document ast.Object) (at bailiff.Circumstances, err error) {
	if at.Time, err = timeIn(document); err != nil {
		return at, err
	}
	available, ok := valueAt(document, keyBackend, keyAvailable).(ast.Object)
	if !ok {
		return at, errors.New("/backend/available is missing")
	}
	at.Backends = make(map[string]bailiff.BackendState, available.Len())
	available.Foreach(func(name, _ *ast.Term) {
		if s, ok := name.Value.(ast.String); ok {
			at.Backends[string(s)] = bailiff.BackendState{}
		}
	})
	return at, nil
}

// timeIn is when the request of an input document was made.
func timeIn(document ast.Object) (at time.Time, err error) {
	instant, ok := valueAt(document, keyTime).(ast.String)
	if !ok {
		return at, errors.New("/time is missing")
	}
	if at, err = time.Parse(time.RFC3339Nano, string(instant)); err != nil {
		return at, fmt.Errorf("/time: %w", err)
	}
	return at, nil
}

// valueAt is what stands at the end of a path of keys; nil if nothing does.
func valueAt(document ast.Object, path ...*ast.Term) ast.Value {
	found, err := document.Find(ast.Ref(path))
	if err != nil {
		return nil
	}
	return found
}
