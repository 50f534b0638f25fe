package api

// What a token of operator.tokens lets a program do: look at one thing, or stop something. None lets answer
// approvals, thaw, roll policies back or break glass, which lift what people or policies imposed.
const (
	TokenReadsApprovals = "approvals.read" // and grants
	TokenReadsDecisions = "decisions.read"
	TokenReadsStatus    = "status.read" // of policies, sandboxes and freezes too
	TokenFreezes        = "freeze.write"
	TokenRevokes        = "grants.write"
	TokenStopsSandboxes = "sandboxes.write"
)

// TokenScopes are all of them.
func TokenScopes() []string {
	return []string{TokenReadsApprovals, TokenReadsDecisions, TokenReadsStatus, TokenFreezes, TokenRevokes, TokenStopsSandboxes}
}
