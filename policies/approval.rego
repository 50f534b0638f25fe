package bailiff

# METADATA
# title: When a human must say yes
# description: |
#   Findings ask where nothing isolates the request from the host; other files may ask
#   for reasons of their own. All reasons go to the human together.
require_approval contains finding if {
	some finding in findings
	_verdict_on(finding) == "ask"
}

_approval_reasons := [] if {
	require_approval == set()
} else := _in_order(require_approval)

_approval := _approval_of(_approval_reasons, require_approval)

# An unattended session has no human to ask.
deny contains {
	"rule": "approval.unattended",
	"message": "The request needs an approval, and nobody attends the session.",
	"match": asked.rule,
} if {
	input.session.unattended
	some asked in require_approval
}
