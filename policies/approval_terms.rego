package bailiff

# METADATA
# title: The terms of an approval
# description: |
#   The terms are the strictest of those that the tables and the reasons to ask offer. A pattern
#   is offered where the table approval.patterns has each rule that asks, and never for one that
#   finds a read of credentials, sending, a gain of rights or a hidden meaning. A yes covers the
#   agents that the one which asks starts where approval.covers_agents has each.
_approval_of(reasons, asked) := object.union_n([_terms_of(reasons, asked), _patterned(asked), _covering(asked)])

default _patterned(_) := {}

_patterned(asked) := {"patterns": true} if {
	count(asked) > 0
	every source in asked {
		data.bailiff.tables.approval.patterns[source.rule]
		not source.rule in _never_patterned
	}
}

default _covering(_) := {}

_covering(asked) := {"covers_agents": true} if {
	count(asked) > 0
	every source in asked {
		data.bailiff.tables.approval.covers_agents[source.rule]
	}
}

_never_patterned := {
	"command.changes_accounts",
	"command.changes_own_settings",
	"command.disables_protection",
	"command.escapes_to_shell",
	"command.gains_privilege",
	"command.grants_access",
	"command.hides_meaning",
	"command.opens_reverse_shell",
	"command.opens_to_network",
	"command.preloads_library",
	"command.publishes",
	"command.reaches_another_host",
	"command.reaches_metadata",
	"command.reaches_new_host",
	"command.reads_credentials",
	"command.reads_memory",
	"command.redirects_connections",
	"command.runs_decoded",
	"command.runs_downloaded",
	"command.runs_inline_program",
	"command.sends_environment",
	"command.sends_files",
	"command.sets_setuid",
	"command.writes_credentials",
	"command.writes_ssh",
	"session.denied_often",
	"session.reaches_host_with_credentials",
	"session.runs_brought",
}

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

# The content of a program is a narrower match than any text: where a grant may last for the session, one of it may last longer.
_offered_by_all(asked, "always") if {
	_rows_offer("always")
	every source in _table_terms {
		_offers(source, "session")
	}
	count(asked) > 0
	every source in asked {
		_is_held(source)
	}
}

_offered_by_all(asked, scope) if {
	scope != "once"
	_rows_offer(scope)
	every source in _table_terms | asked {
		_offers(source, scope)
	}
}

_offers(source, _) if not source.scopes

_offers(source, scope) if scope in source.scopes
