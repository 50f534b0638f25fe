package bailiff

# METADATA
# title: The terms of an approval
# description: |
#   The terms are the strictest of those that the tables and the reasons to ask offer. A pattern
#   is offered where the table approval.patterns has each rule that asks.
_approval_of(reasons, asked) := object.union(_terms_of(reasons, asked), {"patterns": true}) if {
	count(asked) > 0
	every source in asked {
		data.bailiff.tables.approval.patterns[source.rule]
	}
} else := _terms_of(reasons, asked)

_terms_of(reasons, asked) := {
	"reasons": reasons,
	"scopes": [scope | some scope in ["once", "session", "always"]; _offered_by_all(asked, scope)],
	"timeout_seconds": min(_terms_named("timeout_seconds", asked)),
	"grant_seconds": min(_terms_named("grant_seconds", asked)),
	"quorum": max(_terms_named("quorum", asked)),
}

_terms_named(term, asked) := {value |
	some source in (_table_terms | asked)
	value := source[term]
}

_table_terms contains data.bailiff.tables.approval.terms

_table_terms contains data.bailiff.tables.approval.tools[input.tool]

# "once" can always be offered: it is the narrowest.
_offered_by_all(_, "once")

_offered_by_all(asked, scope) if {
	scope != "once"
	every source in _table_terms | asked {
		_offers(source, scope)
	}
}

_offers(source, _) if not source.scopes

_offers(source, scope) if scope in source.scopes
