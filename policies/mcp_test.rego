package bailiff_test

# A call of a tool of an MCP server.
_mcp_call(platform, server, name, arguments) := object.union(
	object.remove(request(platform, []), {"command", "args"}),
	{"tool": "mcp", "args": {"server": server, "name": name, "arguments": arguments}},
)

_mcp_house := {
	"files": {"read": "allow", "write": "ask", "wipe": "deny", "typo": "alow"},
	"mail": {"read": "ask"},
}

# The rules that a call is denied or asked about by.
_mcp_told(server, name) := told if {
	told := {kind: _rules_of({reason | some reason in reasons; startswith(reason.rule, "mcp.")}) |
		some kind, reasons in {"denied": data.bailiff.deny, "asked": data.bailiff.require_approval}
	}
		with input as _mcp_call("cli", server, name, {"path": "x"})
		with data.bailiff.tables.env as _usual_tables.env
		with data.bailiff.tables.mcp_tools as _mcp_house
}

_mcp_offered(server) := names if {
	names := data.bailiff.mcp_offered with input as _mcp_call("cli", server, "", {})
		with data.bailiff.tables.mcp_tools as _mcp_house
}

test_mcp_tool_that_the_table_allows_is_allowed if {
	_mcp_told("files", "read") == {"denied": set(), "asked": set()}
	by({"mcp_tools": _mcp_house}, _mcp_call("cli", "files", "read", {"path": "x"})).outcome == "allow"
}

test_mcp_tool_is_asked_about_by_its_name if {
	questions := _questions_by({"mcp_tools": _mcp_house}, _mcp_call("telegram", "files", "write", {}))
	questions == [{"rule": "mcp.called", "message": `A tool of the MCP server "files" is called.`, "match": "write"}]
}

test_one_tool_of_two_servers_has_a_word_for_each if {
	_mcp_told("mail", "read") == {"denied": set(), "asked": {"mcp.called"}}
}

test_mcp_tools_and_servers_that_no_row_names_are_denied if {
	every called in [["files", "nobody_named_it"], ["other", "read"], ["files", "ｒead"], ["Files", "read"], ["", ""]] {
		_mcp_told(called[0], called[1]).denied == {"mcp.not_listed"}
	}
}

test_denied_and_misspelt_mcp_tools_are_denied if {
	every name in ["wipe", "typo"] {
		_mcp_told("files", name).denied == {"mcp.denied"}
	}
}

test_added_rule_sees_the_arguments_of_an_mcp_tool if {
	answer := by({"mcp_tools": _mcp_house}, _mcp_call("cli", "files", "read", {"path": "/etc/shadow"}))
		with data.bailiff.deny as {{"rule": "mine.path", "message": "No.", "match": "/etc/shadow"}}
	rules(answer) == {"mine.path"}
}

test_clients_are_told_of_mcp_tools_that_are_not_denied if {
	_mcp_offered("files") == {"read", "write"}
	_mcp_offered("other") == set()
}

test_mcp_tool_has_limits if {
	settled := _settled(_mcp_call("telegram", "files", "read", {}))
	settled.limits.timeout_seconds > 0
	settled.limits.output_bytes > 0
}
