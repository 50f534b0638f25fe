# When a human must say yes.
#
# Findings ask where nothing isolates the request from the host; other files may
# ask for reasons of their own. All reasons go to the human together. The terms are
# the strictest of what the tables and the contributions offer.

package bailiff

require_approval contains finding if {
	some finding in findings
	verdict_on(finding) == "ask"
}

approval_reasons := [reason(asked) | some asked in require_approval]

approval := {
	"reasons": approval_reasons,
	"scopes": approval_scopes,
	"timeout_seconds": least("timeout_seconds"),
	"grant_seconds": least("grant_seconds"),
	"quorum": max(approval_terms("quorum")),
}

# Nobody is there to be asked.
deny contains {
	"rule": "approval.unattended",
	"message": "The request needs an approval, and nobody attends the session.",
	"match": asked.rule,
} if {
	input.session.unattended
	some asked in require_approval
}

least(term) := min(approval_terms(term))

approval_terms(term) := {value |
	some source in approval_sources
	value := source[term]
}

approval_sources contains data.bailiff.tables.approval.terms

approval_sources contains data.bailiff.tables.approval.tools[input.tool]

approval_sources contains asked if some asked in require_approval

# "once" can always be offered: it is the narrowest.
approval_scopes := [scope |
	some scope in ["once", "session", "always"]
	offered_by_all(scope)
]

offered_by_all("once")

offered_by_all(scope) if {
	scope != "once"
	every source in approval_sources {
		offers(source, scope)
	}
}

offers(source, _) if not source.scopes

offers(source, scope) if scope in source.scopes
