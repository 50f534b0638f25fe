package bailiff_test

test_strictest_terms_hold if {
	answer := usually(_sudo) with data.bailiff.require_approval as {
		{"rule": "a.one", "message": "One.", "timeout_seconds": 60, "quorum": 2},
		{"rule": "b.two", "message": "Two.", "grant_seconds": 30, "scopes": ["once", "always"]},
	}
	answer.approval.timeout_seconds == 60
	answer.approval.grant_seconds == 30
	answer.approval.quorum == 2
	answer.approval.scopes == ["once"]
	rules(answer) == {"a.one", "b.two"}
}

test_always_is_offered_only_by_the_table if {
	answer := by({"approval": {"terms": {"scopes": ["once", "session", "always"]}}}, _sudo)
	answer.approval.scopes == ["once", "session", "always"]
}

test_a_pattern_is_offered_where_the_table_has_each_rule_that_asks if {
	with_patterns := {"approval": {"patterns": {"command.deletes_recursively": true, "command.gains_privilege": false}}}
	by(with_patterns, on_host(request("cli", [call("rm", ["-r"], ["src"])]))).approval.patterns == true
	every asked in [_sudo, on_host(request("cli", [call("rm", ["-r"], ["src"]), call("sudo", [], ["ls"])]))] {
		answer := by(with_patterns, asked)
		answer.outcome == "ask"
		not answer.approval.patterns
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

_by_pattern(rule) := answer.approval if {
	asked := {{"rule": rule, "message": "It is asked."}}
	quiet := {"command.gains_privilege": {"host": "allow", "sandbox": "allow"}}
	answer := by({"approval": {"patterns": {rule: true}}, "verdicts": quiet}, _sudo) with data.bailiff.require_approval as asked
}

test_code_is_approved_once_only if {
	answer := usually(on_host(program("cli", {"complete": false})))
	answer.outcome == "ask"
	answer.approval.scopes == ["once"]
}

test_terms_are_the_strictest_of_all_sources if {
	object.remove(usually(_sudo).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(usually(on_host(program("cli", {"complete": false}))).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"timeout_seconds": 30}).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 30,
	}
	object.remove(_asked_with({"grant_seconds": 60, "quorum": 3}).approval, ["reasons"]) == {
		"grant_seconds": 60,
		"quorum": 3,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"scopes": ["session"]}).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"scopes": []}).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"scopes": ["once", "session", "always"]}).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
	object.remove(_asked_with({"quorum": 0.5, "timeout_seconds": 3000}).approval, ["reasons"]) == {
		"grant_seconds": 3600,
		"quorum": 1,
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
	}
}

_asked_with(terms) := answer if {
	asked := object.union({"rule": "team.rule", "message": "The team wants to know."}, terms)
	answer := usually(_sudo) with data.bailiff.require_approval as {asked}
}
