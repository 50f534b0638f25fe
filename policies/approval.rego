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
	_questions == set()
} else := _in_order(_questions)

_approval := _approval_of(_approval_reasons, _questions)

# What cannot be undone is asked about with what asks by itself, and nothing that is observed.
_questions := require_approval - _observed_questions if {
	_to_undo == set()
} else := set() if {
	_undoable
} else := (require_approval | _to_undo) - _observed_questions

# An unattended session has no human to ask.
deny contains {
	"rule": "approval.unattended",
	"message": "The request needs an approval, and nobody attends the session.",
	"match": asked.rule,
} if {
	input.session.unattended
	some asked in _questions
}
