package bailiff_test

_sighted(calls, facts) := {told | some told in _told_of(found).told} if {
	found := data.bailiff._examined.calls with input as _text_with(calls, facts)
}

test_first_sight_asks_by_the_name_alone if {
	_sighted([call("unheard-of", [], ["a"])], {"unknown": ["unheard-of"]}) == {"command.runs_unknown_program: unheard-of"}
	_sighted([call("unheard-of", [], ["a"])], {"unknown": ["./unheard-of"]}) == {"command.runs_unknown_program: ./unheard-of"}
	_sighted([call("unheard-of", [], ["a"])], {}) == set()
}

test_first_sight_is_asked_about_where_a_team_sets_ask if {
	runs := on_host(_text_with([call("unheard-of", [], ["a"])], {"unknown": ["unheard-of"]}))
	_questions_by({"verdicts": {"command.runs_unknown_program": {"host": "allow"}}}, runs) == []
	some reason in _questions_by({"verdicts": {"command.runs_unknown_program": {"host": "ask"}}}, runs)
	reason.rule == "command.runs_unknown_program"
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
