package bailiff_test

_sighted(calls, facts) := {told | some told in _told_of(found).told} if {
	found := {finding |
		"sights" in data.bailiff._aspects
		some finding in data.bailiff._examined.sights
	} with input as _text_with(calls, facts)
}

test_first_sight_asks_by_the_name_alone if {
	_sighted([call("unheard-of", [], ["a"])], {"unknown": ["unheard-of"]}) == {"command.runs_unknown_program: unheard-of"}
	_sighted([call("unheard-of", [], ["a"])], {"unknown": ["./unheard-of"]}) == {"command.runs_unknown_program: ./unheard-of"}
	_sighted([call("unheard-of", [], ["a"])], {}) == set()
}

test_what_no_host_was_asked_about_is_a_finding_of_its_own if {
	found := _sighted([call("unheard-of", [], ["a"])], {"unsought": ["unheard-of"]})
	found == {"command.calls_unsought_program: unheard-of"}
}

test_the_name_of_a_file_tells_nothing_of_its_program if {
	every facts in [{"unknown": ["/srv/git", "git"]}, {"unsought": ["/srv/git", "git"]}] {
		found := _sighted([call("git", [], ["status"])], facts)
		count(found) == 1
		some finding in found
		endswith(finding, ": /srv/git")
	}
}

test_only_a_program_with_a_content_that_stands_is_granted_more_than_once if {
	facts := {"unknown": ["unheard-of", "/srv/tool"], "held": {"/srv/tool": "digest"}}
	found := _sighted([call("unheard-of", [], ["a"]), call("/srv/tool", [], [])], facts)
	found == {"command.runs_unknown_program: ", "command.runs_unknown_program: /srv/tool"}
}

test_always_is_offered_for_the_content_of_a_program_alone if {
	sight := {"rule": "command.runs_unknown_program", "message": "It is unknown.", "match": "/srv/tool"}
	offered := {["/srv/tool", ["once", "session"]], ["/srv/tool", ["once"]], ["/srv/other", ["once", "session"]]}
	scopes := {[match, scopes, got] |
		some [match, scopes] in offered
		got := _sight_terms(scopes, {object.union(sight, {"match": match})})
	}
	scopes == {
		["/srv/tool", ["once", "session"], ["once", "session", "always"]],
		["/srv/tool", ["once"], ["once"]],
		["/srv/other", ["once", "session"], ["once", "session"]],
	}
	_sight_terms(["once", "session"], {sight, _asking}) == ["once", "session"]
}

_sight_terms(scopes, asked) := approval.scopes if {
	approval := _terms({"terms": {"scopes": scopes}}, "terminal", asked) with input.command.held as {"/srv/tool": "digest"}
}

test_first_sight_is_asked_about_where_a_team_sets_ask if {
	every rule, facts in {
		"command.runs_unknown_program": {"unknown": ["unheard-of"]},
		"command.calls_unsought_program": {"unsought": ["unheard-of"]},
	} {
		text := _text_with([call("unheard-of", [], ["a"])], facts)
		_questions_by({"verdicts": {rule: {"host": "ask", "sandbox": "allow"}}}, text) == []
		runs := on_host(text)
		_questions_by({"verdicts": {rule: {"host": "allow"}}}, runs) == []
		some reason in _questions_by({"verdicts": {rule: {"host": "ask"}}}, runs)
		reason.rule == rule
	}
}

test_what_a_team_says_of_a_program_makes_it_known if {
	found := _sighted([call("acme-tool", [], ["a"])], {"unknown": ["acme-tool"]}) with data.bailiff.tables.known as {"acme-tool": true}
	found == set()
}

test_tools_of_attack_are_told_by_the_index if {
	kinds := {"kinds": {"acme-scan": "scans_or_attacks", "acme-build": "builds", "acme-admin": "administers"}}
	_sighted([call("acme-scan", [], ["a"])], kinds) == {"command.attacks_host: acme-scan a"}
	_sighted([call("acme-build", [], ["a"]), call("acme-admin", [], ["a"])], kinds) == set()
}

test_administration_is_told_by_the_index_and_a_word if {
	kinds := {"kinds": {"acme-admin": "administers", "acme-build": "builds"}}
	every operands in [["port", "add", "80"], ["set-mode", "strict"], ["unload", "x"]] {
		_sighted([call("acme-admin", [], operands)], kinds) == {concat("", ["command.writes_system: acme-admin ", concat(" ", operands)])}
		_sighted([call("acme-build", [], operands)], kinds) == set()
	}
	_sighted([call("acme-admin", ["--start=x"], ["y"])], kinds) == set()
	every operands in [[], ["y"], ["list", "add"], ["addresses"]] {
		_sighted([call("acme-admin", ["-l"], operands)], kinds) == set()
	}
	_sighted([call("acme-admin", ["--dry-run"], ["add", "x"])], kinds) == set()
}
