package pdp

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
)

// explainTimeout bounds an explanation: no rule is left out by an index.
const explainTimeout = 5 * time.Second

// Explain tells how a decision about a request came about, which is the one that the
// policies gave or the enforcer made of it. It judges once more, following every rule.
// Scrub takes secrets out of a text.
func (p *PDP) Explain(
	ctx context.Context, req bailiff.Request, at bailiff.Circumstances, d bailiff.Decision, scrub func([]byte) []byte,
) (x explain.Explanation) {
	x = explain.New()
	defer p.unexplained(&x)
	req.Backend = bailiff.BackendName(req.Backend)
	text := p.facts(req, at, p.config.Home)
	if text.Fault != nil {
		x.Fault = text.Fault.Error()
		return x
	}
	if p.config.Guard != nil {
		denials, fault := p.config.Guard.Check(ctx, req, text.Command, text.Code)
		x.Fired = append(x.Fired, explain.Denials(denials, scrub)...)
		if len(denials) > 0 || fault != nil {
			x.Fault = "a guard denies, so that the policies are not asked"
			return x
		}
	}
	s := p.inForce.Load()
	s.explainable(s.decision).Explain(ctx, explain.Question{
		Input: text.Document(req, at), At: at.Time, Decision: d, Limit: cmp.Or(p.config.ExplainTimeout, explainTimeout), Scrub: scrub,
	}, &x)
	return x
}

// ConnectionExplained tells how the judgement of a connection came about.
type ConnectionExplained struct {
	// Rows are those of the host, whether or not they fit.
	Rows []Row `json:"rows"`
	// Lists are the entries of the tables that say what the session's requests may reach.
	Lists []Place `json:"lists"`
	explain.Explanation
}

// ExplainConnection tells how the judgement of a connection came about. Scrub takes secrets
// out of a text.
func (p *PDP) ExplainConnection(ctx context.Context, c bailiff.Connection, j bailiff.ConnectionJudgement, scrub func([]byte) []byte,
) ConnectionExplained {
	return p.explainConnection(ctx, document.OfConnection(c), c.Time, j, scrub)
}

// ExplainLogged judges a connection of the decision log anew, by its input document as JSON, and
// tells how that came about. A document that no policy can judge is an error.
func (p *PDP) ExplainLogged(ctx context.Context, input []byte, scrub func([]byte) []byte) (j bailiff.ConnectionJudgement,
	x ConnectionExplained, err error) {
	if j, err = p.RejudgeConnection(ctx, input); err != nil {
		return j, x, err
	}
	doc, err := document.Parse(input)
	if err != nil {
		return j, x, err
	}
	at, err := document.Time(doc)
	if err != nil {
		return j, x, err
	}
	return j, p.explainConnection(ctx, doc, at, j, scrub), nil
}

func (p *PDP) explainConnection(ctx context.Context, input ast.Object, at time.Time, j bailiff.ConnectionJudgement,
	scrub func([]byte) []byte) (x ConnectionExplained) {
	x = ConnectionExplained{Rows: []Row{}, Lists: []Place{}, Explanation: explain.New()}
	defer p.unexplained(&x.Explanation)
	s, limit := p.inForce.Load(), cmp.Or(p.config.ExplainTimeout, explainTimeout)
	if s.connection == nil {
		x.Fault = "the policies have no rule about connections"
		return x
	}
	x.Rows, x.Lists = s.rowsFor(ctx, input, at, limit), s.listsFor(input)
	s.explainable(*s.connection).Explain(ctx, explain.Question{
		Input: input, At: at, Limit: limit, Scrub: scrub,
		Decision: bailiff.Decision{Outcome: j.Outcome, Denials: j.Denials, Approval: j.Approval},
	}, &x.Explanation)
	return x
}

// unexplained says in an explanation that making it panicked; it is to be deferred.
func (p *PDP) unexplained(x *explain.Explanation) {
	if cause := recover(); cause != nil {
		x.Fault = fmt.Sprintf("explaining panicked: %v", cause)
		p.config.Log.Error("explaining a decision panicked", "cause", cause, "stack", string(debug.Stack()))
	}
}

// explainable are the policies as an explanation of what a query answers needs them.
func (s *snapshot) explainable(query rego.PreparedEvalQuery) explain.Policies {
	return explain.Policies{
		Compiler: s.compiler,
		Store:    s.store,
		Evaluate: func(ctx context.Context, input ast.Value, at time.Time, limit time.Duration, options ...rego.EvalOption) (*ast.Term,
			error) {
			return evaluation.Run(ctx, query, input, at, limit, options...)
		},
		SetOf: func(rule *ast.Rule) (string, bool) {
			set, ok := policyset.SetOf(rule)
			return set, ok && policyset.IsContributed(set)
		},
	}
}
