package gateway

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/api"
)

// scoped are the requests of the operator API that programs may send, each with the scopes that it needs.
var scoped = map[string][]string{
	"GET /v1/approvals":                   {api.TokenReadsApprovals},
	"GET /v1/approvals/{id}":              {api.TokenReadsApprovals},
	"GET /v1/approvals/{id}/preview":      {api.TokenReadsApprovals},
	"GET /v1/grants":                      {api.TokenReadsApprovals},
	"GET /v1/decisions":                   {api.TokenReadsDecisions},
	"GET /v1/report":                      {api.TokenReadsDecisions},
	"GET /v1/session-histories":           {api.TokenReadsDecisions},
	"GET /v1/session-histories/{id}":      {api.TokenReadsDecisions},
	"GET /v1/events":                      {api.TokenReadsApprovals, api.TokenReadsDecisions},
	"GET /v1/status":                      {api.TokenReadsStatus},
	"GET /v1/policies":                    {api.TokenReadsStatus},
	"GET /v1/policies/history":            {api.TokenReadsStatus},
	"GET /v1/policies/history/{revision}": {api.TokenReadsStatus},
	"GET /v1/sandboxes":                   {api.TokenReadsStatus},
	"GET /v1/freeze":                      {api.TokenReadsStatus},
	"POST /v1/freeze":                     {api.TokenFreezes},
	"DELETE /v1/grants/{id}":              {api.TokenRevokes},
	"DELETE /v1/sandboxes/{id}":           {api.TokenStopsSandboxes},
	"POST /v1/sandboxes/reap":             {api.TokenStopsSandboxes},
}

// WithScopes serves of the operator API those requests that a program's scopes cover; name is the program's. What is not
// named in scoped is for people.
func WithScopes(operator http.Handler, name string, scopes []string) http.Handler {
	named := http.NewServeMux()
	for pattern := range scoped {
		named.Handle(pattern, operator)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := named.Handler(r)
		needs := scoped[pattern]
		if p := r.URL.EscapedPath(); p != path.Clean(p) {
			needs = nil
		}
		lacks := slices.DeleteFunc(slices.Clone(needs), func(scope string) bool { return slices.Contains(scopes, scope) })
		switch {
		case len(needs) == 0:
			refuse(w, problem(http.StatusForbidden, "not_eligible", "Token "+name+" is a program's, and no scope lets a program do this; "+
				"a person can."))
		case len(lacks) > 0:
			refuse(w, problem(http.StatusForbidden, "not_eligible", "Token "+name+" lacks the scope "+strings.Join(lacks, " and ")+
				"; operator.tokens in bailiff.yaml says which it has."))
		default:
			operator.ServeHTTP(w, r)
		}
	})
}
