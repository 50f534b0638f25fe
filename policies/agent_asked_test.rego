package bailiff_test

import data.agent.call as agent_call

_house_kit := {
	"sh": {"tool": "terminal", "fields": {"command": "script", "workdir": "cwd"}, "ignored": ["why"]},
	"box": {"tool": "terminal", "through_bailiff": true, "fields": {"command": "script"}},
	"python": {"tool": "execute_code", "fields": {"code": "source"}},
}

# A call as Vercel's AI SDK sends it.
_kit_call(name, arguments) := {
	"tool": {"name": name},
	"args": arguments,
	"messages": [{"role": "user", "content": "hi"}],
	"runtimeContext": {"bailiff": {"session": {"id": "s", "platform": "cli"}, "env": ["TZ"]}, "role": "sre"},
}

_asked_by(sent) := answer if {
	answer := agent_call.asked with input as sent with data.bailiff.tables.agent_tools as _house_kit
}

test_call_is_read_by_the_table_of_tools if {
	_asked_by(_kit_call("sh", {"script": "ls", "cwd": "/w", "why": "to see"})) == {"request": {
		"tool": "terminal",
		"args": {"command": "ls", "workdir": "/w"},
		"session": {"id": "s", "platform": "cli"},
		"env": ["TZ"],
		"backend": "local",
	}}
	_asked_by(_kit_call("python", {"source": "1"})).request.args == {"code": "1"}
}

test_tool_runs_on_the_host_unless_it_hands_its_text_to_bailiff if {
	_asked_by(_kit_call("sh", {"script": "ls"})).request.backend == "local"
	_asked_by(_kit_call("box", {"script": "ls"})).request.backend == ""
}

test_call_need_not_ask_for_variables if {
	sent := object.union(
		object.remove(_kit_call("sh", {"script": "ls"}), ["runtimeContext"]),
		{"runtimeContext": {"bailiff": {"session": {"id": "s"}}}},
	)
	_asked_by(sent).request.env == []
}

test_every_field_of_the_table_is_an_argument if {
	_asked_by(_kit_call("python", {"source": "print(1)"})) == {
		"request": {
			"args": {"code": "print(1)"},
			"backend": "local",
			"env": ["TZ"],
			"session": {"id": "s", "platform": "cli"},
			"tool": "execute_code",
		},
	}
	_asked_by(_kit_call("box", {"script": "ls"})).request.args == {"command": "ls"}
	_asked_by(_kit_call("sh", {})).request.args == {}
}
