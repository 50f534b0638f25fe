package bailiff

# METADATA
# title: The terms of an approval
# description: |
#   The terms are the strictest of those that the tables and the contributions offer.
_least(term) := min(_approval_terms(term))

_approval_terms(term) := {value |
	some source in _approval_sources
	value := source[term]
}

_approval_sources contains data.bailiff.tables.approval.terms

_approval_sources contains data.bailiff.tables.approval.tools[input.tool]

_approval_sources contains asked if some asked in require_approval

# "once" can always be offered: it is the narrowest.
_approval_scopes := [scope |
	some scope in ["once", "session", "always"]
	_offered_by_all(scope)
]

_offered_by_all("once")

_offered_by_all(scope) if {
	scope != "once"
	every source in _approval_sources {
		_offers(source, scope)
	}
}

_offers(source, _) if not source.scopes

_offers(source, scope) if scope in source.scopes
