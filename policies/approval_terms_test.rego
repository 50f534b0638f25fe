package bailiff_test

# How a request of a tool is approved for which there are these reasons.
_terms(more, tool, asked) := approval if {
	approval := data.bailiff._approval_of([reason | some reason in asked], asked) with input.tool as tool
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.approval as _table({"approval": more}, "approval")
}

_asking := {"rule": "team.rule", "message": "The team wants to know."}

test_strictest_terms_hold if {
	approval := _terms({}, "terminal", {
		{"rule": "a.one", "message": "One.", "timeout_seconds": 60, "quorum": 2},
		{"rule": "b.two", "message": "Two.", "grant_seconds": 30, "scopes": ["once", "always"]},
	})
	approval.timeout_seconds == 60
	approval.grant_seconds == 30
	approval.quorum == 2
	approval.scopes == ["once"]
	_rules_of(approval.reasons) == {"a.one", "b.two"}
}

test_always_is_offered_only_by_the_table if {
	_terms({"terms": {"scopes": ["once", "session", "always"]}}, "terminal", {_asking}).scopes == ["once", "session", "always"]
}

test_a_pattern_is_offered_where_the_table_has_each_rule_that_asks if {
	patterns := {"patterns": {"command.deletes_recursively": true, "command.gains_privilege": false}}
	deletes := {"rule": "command.deletes_recursively", "message": "It deletes."}
	gains := {"rule": "command.gains_privilege", "message": "It gains."}
	_terms(patterns, "terminal", {deletes}).patterns == true
	every asked in [{gains}, {deletes, gains}] {
		approval := _terms(patterns, "terminal", asked)
		approval.quorum == 1
		not approval.patterns
	}
}

test_no_table_offers_a_pattern_for_secrets_sending_rights_or_hidden_meaning if {
	every rule in {
		"command.reads_credentials", "command.reads_memory", "command.sends_files", "command.sends_environment",
		"command.reaches_new_host", "command.gains_privilege", "command.sets_setuid", "command.hides_meaning",
		"command.runs_decoded", "command.runs_inline_program", "command.writes_credentials",
	} {
		not _by_pattern(rule).patterns
	}
	_by_pattern("team.rule").patterns
}

# What is denied is approved in no way.
test_what_is_denied_has_no_terms if {
	tables := {"approval": {"patterns": {"command.deletes_recursively": true}}}
	deletes := on_host(request("cli", [call("rm", ["-r"], ["src"])]))
	answer := by(tables, deletes) with data.bailiff.deny as {{"rule": "team.rule", "message": "It is denied."}}
	answer.outcome == "deny"
	not answer.approval
}

_by_pattern(rule) := _terms({"patterns": {rule: true}}, "terminal", {object.union(_asking, {"rule": rule})})

test_code_is_approved_once_only if {
	_terms({}, "execute_code", {_asking}).scopes == ["once"]
}

test_terms_are_the_strictest_of_all_sources if {
	object.remove(_terms({}, "terminal", {_asking}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_terms({}, "execute_code", {_asking}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"timeout_seconds": 30}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 30,
	}
	object.remove(_asked_with({"grant_seconds": 60, "quorum": 3}), ["reasons"]) == {
		"grant_seconds": 60,
		"quorum": 3,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"scopes": ["session"]}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"scopes": []}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"scopes": ["once", "session", "always"]}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"quorum": 0.5, "timeout_seconds": 3000}), ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
}

_asked_with(terms) := _terms({}, "terminal", {object.union(_asking, terms)})
