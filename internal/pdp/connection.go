package pdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
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
			j = failedConnection(fmt.Errorf("judging a connection: panic: %v", cause))
			p.config.Log.Error("judging a connection panicked", "cause", cause, "stack", string(debug.Stack()))
		}
		j.Revision = s.revision
	}()
	return p.judgeConnection(ctx, s, connectionDocument(c), c.Time)
}

// RejudgeConnection judges by an input document about a connection of the decision log, as
// JSON. A document that no policy can judge is an error; a fault of the policies is a denial.
func (p *PDP) RejudgeConnection(ctx context.Context, input []byte) (j bailiff.ConnectionJudgement, err error) {
	s := p.inForce.Load()
	defer func() {
		if cause := recover(); cause != nil {
			j = failedConnection(fmt.Errorf("judging a connection: panic: %v", cause))
		}
		j.Revision = s.revision
	}()
	if s.compiler == nil {
		return j, errNoPolicies
	}
	document, err := readDocument(input)
	if err != nil {
		return j, err
	}
	at, err := timeIn(document)
	if err != nil {
		return j, fmt.Errorf("reading an input document: %w", err)
	}
	j = p.judgeConnection(ctx, s, document, at)
	return j, ctx.Err()
}

// judgeConnection asks the policies, unless they are known to answer the same.
func (p *PDP) judgeConnection(ctx context.Context, s *snapshot, input ast.Object, at time.Time) (j bailiff.ConnectionJudgement) {
	if s.connection == nil {
		denied := denial("policy.no_connections", "The policies have no rule about connections.", insteadOfUnjudged)
		return bailiff.ConnectionJudgement{Denials: denied.Denials}
	}
	key := s.connectionKey(input)
	if key != "" {
		if known, ok := s.connections.Get(key); ok {
			return clonedConnection(known)
		}
	}
	answer, err := evaluate(ctx, *s.connection, input, at, p.config.EvalTimeout)
	p.noteTime(err)
	if err == nil && answer == nil {
		err = errors.New("evaluating policies: the document about connections is undefined")
	}
	if err != nil {
		return failedConnection(err)
	}
	if j = readConnection(answer); j.Fault == nil && key != "" {
		s.connections.Put(key, clonedConnection(j))
	}
	return j
}

// connectionKey is all that a judgement depends on; empty where it is not remembered.
func (s *snapshot) connectionKey(input ast.Object) string {
	if s.connections == nil {
		return ""
	}
	before, after, err := unwritten{input}.around(keyTime)
	if err != nil || len(before)+len(after) > maxKept {
		return ""
	}
	return string(before) + string(after)
}

func clonedConnection(j bailiff.ConnectionJudgement) bailiff.ConnectionJudgement {
	j.Denials, j.Approval = clonedReasons(j.Denials), clonedTerms(j.Approval)
	return j
}

func failedConnection(err error) bailiff.ConnectionJudgement {
	d, fault := failed(err)
	return bailiff.ConnectionJudgement{Denials: d.Denials, Fault: fault}
}

// The keys that only an input document about a connection has.
var (
	keyConnection  = ast.InternedTerm("connection")
	keyRequest     = ast.InternedTerm("request")
	keyProtocol    = ast.InternedTerm("protocol")
	keyVia         = ast.InternedTerm("via")
	keyHost        = ast.InternedTerm("host")
	keyDomain      = ast.InternedTerm("domain")
	keyPort        = ast.InternedTerm("port")
	keyIsAddress   = ast.InternedTerm("is_address")
	keyIntercepted = ast.InternedTerm("intercepted")
	keyMethod      = ast.InternedTerm("method")
	keyDecisionID  = ast.InternedTerm("decision_id")
	keySecrets     = ast.InternedTerm("secrets")
	keyApproved    = ast.InternedTerm("approved")
	keyRule        = ast.InternedTerm("rule")
	keyMatch       = ast.InternedTerm("match")
	keyEgress      = ast.InternedTerm("egress")
)

// ConnectionInput is the input document about a connection, as it is logged.
func ConnectionInput(c bailiff.Connection) json.Marshaler { return unwritten{connectionDocument(c)} }

// connectionDocument is the input document about a connection.
func connectionDocument(c bailiff.Connection) ast.Object {
	return ast.NewObject(
		item(keyTool, text("connection")),
		item(keyCaller, object(item(keyName, text(c.Caller)))),
		item(keySession, session(c.Session)),
		item(keyBackend, object(item(keyName, text(c.Backend)))),
		item(keyTime, text(instant(c.Time))),
		item(keyRequest, object(item(keyDecisionID, text(c.For.DecisionID)), item(keyTool, text(string(c.For.Tool))),
			item(keyEgress, list(c.For.Egress)), item(keyApproved, approved(c.For.Approved)))),
		item(keyConnection, object(
			item(keyProtocol, text(c.Protocol)), item(keyVia, text(c.Via)), item(keyHost, text(c.Host)), item(keyDomain, text(c.Domain)),
			item(keyPort, ast.InternedTerm(c.Port)), item(keyIsAddress, ast.InternedTerm(c.IsAddress)),
			item(keyIntercepted, ast.InternedTerm(c.Intercepted)), item(keyMethod, text(c.Method)), item(keyPath, text(c.Path)),
			item(keySecrets, list(c.Secrets)),
		)),
	)
}

// approved are reasons that people were asked about, by rule and match.
func approved(reasons []bailiff.Reason) *ast.Term {
	terms := make([]*ast.Term, len(reasons))
	for i, r := range reasons {
		terms[i] = object(item(keyRule, text(r.Rule)), item(keyMatch, text(r.Match)))
	}
	return ast.ArrayTerm(terms...)
}

// readConnection reads the policies' answer strictly: anything odd denies.
func readConnection(answer *ast.Term) (j bailiff.ConnectionJudgement) {
	r := reader{}
	r.object(answer, fields{
		{"outcome", into(&j.Outcome, r.outcome)},
		{"denials", into(&j.Denials, r.reasons)},
		{"approval", into(&j.Approval, r.approval)},
		{"private", into(&j.Private, r.bool)},
		{"intercept", into(&j.Intercept, r.bool)},
		{"websocket", into(&j.WebSocket, r.bool)},
		{"limits", func(v *ast.Term) {
			r.object(v, fields{{"upload_mb", into(&j.Limits.UploadMB, r.count)}, {"download_mb", into(&j.Limits.DownloadMB, r.count)}})
		}},
	}, "outcome", "denials")
	if r.wrong == "" {
		r.agreeOnConnection(j)
	}
	if r.wrong == "" {
		return j
	}
	denied := denial(ruleInvalid, "The policies gave no valid answer about a connection: "+pointer(r.at)+" "+r.wrong+".", insteadOfInvalid)
	return bailiff.ConnectionJudgement{Denials: slices.Concat(denied.Denials, said(answer)),
		Fault: fmt.Errorf("reading the policies' answer about a connection: %s %s", pointer(r.at), r.wrong)}
}

func (r *reader) agreeOnConnection(j bailiff.ConnectionJudgement) {
	switch {
	case j.Outcome == bailiff.Deny && len(j.Denials) == 0:
		r.failAt("/denials", "is empty although the outcome is deny")
	case j.Outcome != bailiff.Deny && len(j.Denials) > 0:
		r.failAt("/outcome", "is %s although there are denials", j.Outcome)
	case j.Outcome == bailiff.Ask && (j.Approval == nil || len(j.Approval.Reasons) == 0):
		r.failAt("/approval/reasons", "is empty although the outcome is ask")
	case j.Outcome == bailiff.Ask:
		r.bounded(j.Approval)
	case j.Approval != nil:
		r.failAt("/outcome", "is %s although there are reasons to ask", j.Outcome)
	}
}
