package bailiff_test

test_finding_without_a_rule_denies if {
	answer := usually(_git_status) with data.bailiff.findings as {{"message": "x"}}
	answer.outcome == "deny"
}

test_table_can_deny_what_is_allowed_in_a_sandbox if {
	_verdict_at("sandbox", {"command.gains_privilege": {"host": "deny", "sandbox": "deny"}}, {"rule": "command.gains_privilege"}) == "deny"
}

test_verdict_that_is_no_word_denies if {
	_verdict_at("sandbox", {"command.gains_privilege": {"sandbox": "alow"}}, {"rule": "command.gains_privilege"}) == "deny"
}

# Reasons as a decision has them, by tables that say which are hidden and what would be allowed instead.
_reasons_by(hidden, instead, said) := reasons if {
	reasons := data.bailiff._in_order(said) with data.bailiff.tables.hidden_rules as hidden with data.bailiff.tables.instead as instead
}

test_hidden_rule_marks_its_reasons if {
	said := {"rule": "command.destroys_system", "message": "It destroys."}
	_reasons_by({"command.destroys_system": true}, {}, {said}) == [object.union(said, {"hidden": true})]
	_reasons_by({"command.gains_privilege": true}, {}, {said}) == [said]
}

test_table_says_what_would_be_allowed_instead if {
	said := {"rule": "command.gains_privilege", "message": "It gains."}
	_reasons_by({}, {"command.gains_privilege": "Do it as yourself."}, {said}) == [object.union(said, {"instead": "Do it as yourself."})]
}

test_reason_may_say_itself_what_would_be_allowed if {
	said := {"rule": "mine.night", "message": "Nobody deploys at night.", "instead": "Deploy in the morning."}
	_reasons_by({}, {"mine.night": "Sleep."}, {said}) == [said]
}

test_reason_may_hide_itself if {
	said := {"rule": "mine.secret", "message": "No.", "hidden": true}
	_reasons_by({}, {}, {said}) == [said]
}

test_reasons_keep_what_they_say_and_nothing_else if {
	data.bailiff._reason({"rule": "a.b", "message": "A.", "match": "x", "owner": "ana"}) == {
		"match": "x",
		"message": "A.",
		"rule": "a.b",
	}
	data.bailiff._reason({"rule": "a.b", "message": "A.", "instead": "B.", "hidden": true}) == {
		"hidden": true,
		"instead": "B.",
		"message": "A.",
		"rule": "a.b",
	}
	data.bailiff._reason("a.b") == "a.b" with data.bailiff.tables.instead as {}
	data.bailiff._reason({"rule": "a.b", "message": "A."}) == {
		"instead": "C.",
		"message": "A.",
		"rule": "a.b",
	} with data.bailiff.tables.instead as {"a.b": "C."}
	data.bailiff._reason({"rule": "a.b", "message": "A.", "instead": "B."}) == {
		"instead": "B.",
		"message": "A.",
		"rule": "a.b",
	} with data.bailiff.tables.instead as {"a.b": "C."}
	data.bailiff._reason({"rule": "a.b", "message": "A."}) == {
		"hidden": true,
		"message": "A.",
		"rule": "a.b",
	} with data.bailiff.tables.hidden_rules as {"a.b": true}
}

test_grades_leave_the_order_of_reasons_as_it_is if {
	reasons := _reasons_by({}, {}, {
		{"rule": "b.b", "message": "A.", "attack": ["T1021"]},
		{"rule": "a.a", "message": "B.", "severity": "high"},
		{"rule": "a.a", "message": "A."},
	})
	[[reason.message, reason.rule] | some reason in reasons] == [["A.", "a.a"], ["A.", "b.b"], ["B.", "a.a"]]
}

test_reason_may_grade_itself if {
	said := {"rule": "a.b", "message": "A.", "severity": "low", "attack": ["T1021"]}
	_reasons_by({}, {}, {said}) == [said]
}

test_verdict_is_that_of_the_place if {
	_verdict_at("host", {}, {"rule": "a.b"}) == "ask"
	_verdict_at("sandbox", {}, {"rule": "a.b"}) == "allow"
	_verdict_at("sandbox", {}, {"message": "A."}) == "deny"
	_verdict_at("sandbox", {"a.b": {"sandbox": "deny"}}, {"rule": "a.b"}) == "deny"
	_verdict_at("host", {"a.b": {"sandbox": "deny"}}, {"rule": "a.b"}) == "ask"
}

_verdict_at(place, verdicts, finding) := _verdict_among({place}, verdicts, finding)

_verdict_among(places, verdicts, finding) := verdict if {
	verdict := data.bailiff._verdict_on(finding) with data.bailiff._places as places
		with data.bailiff.tables.verdicts as verdicts
}

test_the_strictest_word_of_a_sandbox_counts if {
	row := {"a.b": {"host": "deny", "sandbox": "allow", "networked": "ask", "shared": "allow"}}
	_verdict_among({"sandbox"}, row, {"rule": "a.b"}) == "allow"
	_verdict_among({"sandbox", "networked"}, row, {"rule": "a.b"}) == "ask"
	_verdict_among({"sandbox", "shared"}, row, {"rule": "a.b"}) == "allow"
	_verdict_among({"sandbox", "networked", "shared"}, row, {"rule": "a.b"}) == "ask"
	_verdict_among({"sandbox", "networked", "shared"}, {}, {"rule": "a.b"}) == "allow"
	_verdict_among({"sandbox", "networked"}, {}, {"message": "A."}) == "deny"
	_verdict_among({"sandbox", "networked"}, {"a.b": {"networked": "maybe"}}, {"rule": "a.b"}) == "deny"
}

test_a_row_without_a_word_for_what_is_opened_takes_its_strictest if {
	every opened in ["networked", "shared"] {
		_verdict_among({"sandbox", opened}, {"a.b": {"host": "ask", "sandbox": "deny"}}, {"rule": "a.b"}) == "deny"
		_verdict_among({"sandbox", opened}, {"a.b": {"host": "ask"}}, {"rule": "a.b"}) == "ask"
		_verdict_among({"sandbox", opened}, {"a.b": {"host": "allow", "sandbox": "allow"}}, {"rule": "a.b"}) == "allow"
	}
}

test_tables_without_words_for_what_is_opened_mean_what_they_meant if {
	before := {"command.destroys_system": {"host": "deny", "sandbox": "deny"}}
	{rule |
		some class in data.bailiff.tables.classes
		rule := class.rule
		_verdict_among({"sandbox", "networked", "shared"}, before, {"rule": rule}) != "allow"
	} == {"command.destroys_system"}
}

test_places_are_the_host_or_a_sandbox_with_what_was_opened if {
	mount := {"source": "/srv", "target": "/srv", "read_only": false}
	_places_with(false, "full", [mount]) == {"host"}
	_places_with(true, "none", []) == {"sandbox"}
	_places_with(true, "egress", []) == {"sandbox", "networked"}
	_places_with(true, "full", []) == {"sandbox", "networked"}
	_places_with(true, "none", [mount]) == {"sandbox", "shared"}
	_places_with(true, "none", [object.union(mount, {"read_only": true})]) == {"sandbox"}
	_places_with(true, "full", [mount]) == {"sandbox", "networked", "shared"}
}

_places_with(isolated, network, mounts) := places if {
	places := data.bailiff._places with data.bailiff._chosen as "somewhere"
		with input.backend.available as {"somewhere": {"isolated": isolated, "ready": true}}
		with data.bailiff._network as network
		with data.bailiff._shown as mounts
}
