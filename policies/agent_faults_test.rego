package bailiff_test

test_what_is_no_call_is_none_and_says_why if {
	right := _kit_call("sh", {"script": "ls"})
	wrong := {
		`the tool "rm" is not in the table agent_tools`: {"tool": {"name": "rm"}},
		"the input names no tool (tool.name)": {"tool": {"name": 7}},
		"the arguments of the tool are no object (args)": {"args": "ls"},
		`the table agent_tools does not say what "shell" is to the tool "sh"`: {"args": {"shell": "zsh"}},
		"the input does not say for which session (runtimeContext.bailiff.session)": {"runtimeContext": "s"},
		`nothing is named "sesion" in runtimeContext.bailiff, want session or env`: {"runtimeContext": {"bailiff": {"sesion": {}}}},
	}
	every reason, part in wrong {
		_asked_by(object.union(right, part)) == {"faults": [reason]}
	}
}

test_whatever_is_sent_there_is_an_answer if {
	every sent in [null, [], "ls", 7, {}, {"tool": null}, {"tool": {"name": {}}, "args": {"script": []}}] {
		count(_asked_by(sent).faults) > 0
		_worded(sent).decision == "deny"
	}
}

test_faults_are_all_told_at_once if {
	_asked_by({"tool": {"name": "rm"}, "args": "ls"}) == {
		"faults": [
			"the arguments of the tool are no object (args)",
			"the input does not say for which session (runtimeContext.bailiff.session)",
			"the tool \"rm\" is not in the table agent_tools",
		],
	}
	_asked_by({"args": {"script": "ls"}}) == {
		"faults": ["the input does not say for which session (runtimeContext.bailiff.session)", "the input names no tool (tool.name)"],
	}
	_asked_by({"tool": {"name": "sh"}, "runtimeContext": {"bailiff": {"session": {}}}}) == {
		"faults": ["the arguments of the tool are no object (args)"],
	}
	_asked_by(object.union(_kit_call("box", {"script": "ls"}), {"runtimeContext": {"bailiff": {"user": "ana", "role": "x"}}})) == {
		"faults": [
			"nothing is named \"role\" in runtimeContext.bailiff, want session or env",
			"nothing is named \"user\" in runtimeContext.bailiff, want session or env",
		],
	}
}

test_field_that_the_table_ignores_is_no_fault if {
	_asked_by(_kit_call("sh", {"why": "to see"})).request.args == {}
	_asked_by(_kit_call("python", {"source": "1", "why": "to see"})) == {
		"faults": ["the table agent_tools does not say what \"why\" is to the tool \"python\""],
	}
}
