package bailiff_test

# A script's call of a tool of the agent's own.
_calling_tool(platform, name, arguments) := object.union(
	object.remove(request(platform, []), {"command", "args"}),
	{"tool": "call", "args": {"name": name, "arguments": arguments}},
)

_house_tools := {"terminal": "allow", "web_search": "allow", "send_mail": "ask", "wipe": "deny", "typo": "alow"}

_answer_to_call(name) := answer if {
	answer := by({"callable_tools": _house_tools}, _calling_tool("telegram", name, {"query": "x"}))
}

_tools_by(table, asked) := tools if tools := data.bailiff._tools with input as asked with data.bailiff.tables.callable_tools as table

test_script_is_offered_what_the_table_does_not_deny if {
	_tools_by(_house_tools, program("telegram", {})) == ["send_mail", "terminal", "web_search"]
}

test_terminal_is_offered_or_not if {
	every word in ["deny", "ask", true] {
		_tools_by({"terminal": word}, program("telegram", {})) == []
	}
}

test_only_scripts_are_offered_tools if {
	_tools_by(_house_tools, _git_status) == []
}

test_allowed_call_is_allowed if _answer_to_call("web_search").outcome == "allow"

test_call_is_asked_about_by_the_name_of_its_tool if {
	questions := _questions_by({"callable_tools": _house_tools}, _calling_tool("telegram", "send_mail", {}))
	questions == [{"rule": "tool.called", "message": "A script calls a tool of the agent.", "match": "send_mail"}]
}

test_denied_unknown_and_misspelt_tools_are_not_callable if {
	every name in ["wipe", "typo", "nobody_named_it", "terminal", ""] {
		rules(_answer_to_call(name)) == {"tool.not_callable"}
	}
}

test_call_in_a_session_without_people_is_not_asked_about if {
	answer := by({"callable_tools": _house_tools}, unattended(_calling_tool("telegram", "send_mail", {})))
	rules(answer) == {"approval.unattended"}
}

test_call_has_limits_and_a_place if {
	settled := _settled(_calling_tool("telegram", "web_search", {}))
	settled.limits.timeout_seconds == 60
	settled.backend.name == "docker"
}

test_added_rule_sees_the_arguments_of_a_call if {
	answer := by({"callable_tools": _house_tools}, _calling_tool("telegram", "web_search", {"site": "intranet"}))
		with data.bailiff.deny as {{"rule": "mine.site", "message": "No.", "match": "intranet"}}
	rules(answer) == {"mine.site"}
}

test_tools_are_offered_by_the_table if {
	_tools_by({"terminal": "allow", "web_search": "allow"}, program("cli", {})) == [
		"terminal",
		"web_search",
	]
	_tools_by({"terminal": "deny"}, program("cli", {})) == []
	_outcome_and_rules(_answer_to_call("wipe")) == ["deny", "tool.not_callable"]
	_outcome_and_rules(_answer_to_call("send_mail")) == ["ask", "tool.called"]
}

_outcome_and_rules(answer) := [answer.outcome, concat(" ", rules(answer))]
