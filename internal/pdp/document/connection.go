package document

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

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

// OfConnection is the input document about a connection.
func OfConnection(c bailiff.Connection) ast.Object {
	return ast.NewObject(
		item(keyTool, text("connection")),
		item(keyCaller, object(item(keyName, text(c.Caller)))),
		item(keySession, session(c.Session)),
		item(keyBackend, object(item(keyName, text(c.Backend)))),
		item(KeyTime, text(Instant(c.Time))),
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
