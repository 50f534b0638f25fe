package bailiff_test

_process(action) := object.union(object.remove(request("cli", []), {"command"}), {
	"tool": "process",
	"args": {"action": action, "process_id": "p", "data": "…"},
})

test_looking_at_a_process_has_no_text if {
	not _hidden with input as _process("poll")
	_hidden with input as _process("write")
	_hidden with input as _process("submit")
}

test_data_for_a_process_is_judged_like_a_command if {
	typed := object.union(_process("submit"), {"command": _text([call("sudo", [], ["ls"])])})
	_rules_of(_found_of_calls(typed)) == {"command.gains_privilege"}
}

test_shell_text_of_a_program_is_judged_like_a_command if {
	shelled := program("cli", {"command": _text([call("sudo", [], ["ls"])])})
	_rules_of(_found_of_calls(shelled)) == {"command.gains_privilege"}
}

_found_of_calls(asked) := found if found := data.bailiff._examined.calls with input as asked

test_text_stands_where_the_tool_has_it if {
	data.bailiff._command.programs == ["ls"] with input as request("cli", [call("ls", [], [])])
	data.bailiff._command.programs == ["ls"] with input as program("cli", {"command": _text_of_ls})
	[data.bailiff._calls, data.bailiff._calls_by] == [[], {}] with input as program("cli", {})
	object.keys(data.bailiff._calls_by) == {
		"cat",
		"ls",
	} with input as request("cli", [call("ls", [], []), call("cat", [], [])])
	data.bailiff._reads == {"a", "b"} with input as program("cli", {"reads": ["a"], "command": {"reads": ["b"]}})
	data.bailiff._writes == {"a", "b"}
		with input as program("cli", {"writes": ["a"], "command": {"writes": ["b"]}})
	data.bailiff._hosts == {"x.test"}
		with input as object.union(request("cli", []), {"command": {"hosts": ["x.test"]}})
	data.bailiff._loses == {"a"} with input as program("cli", {"loses": ["a"]})
	data.bailiff._text_is_due with input as program("cli", {"command": {"parsed": false}})
	not data.bailiff._text_is_due with input as program("cli", {})
	[understood | understood := data.bailiff._understood] == []
		with input as object.union(request("cli", []), {"command": {"complete": false}})
}

_text_of_ls := _text([call("ls", [], [])])
