package bailiff_test

import data.agent.call as agent_call

house_kit := {
	"sh": {"tool": "terminal", "fields": {"command": "script", "workdir": "cwd"}, "ignored": ["why"]},
	"box": {"tool": "terminal", "through_bailiff": true, "fields": {"command": "script"}},
	"python": {"tool": "execute_code", "fields": {"code": "source"}},
}

# A call as Vercel's AI SDK sends it.
kit_call(name, arguments) := {
	"tool": {"name": name},
	"args": arguments,
	"messages": [{"role": "user", "content": "hi"}],
	"runtimeContext": {"bailiff": {"session": {"id": "s", "platform": "cli"}, "env": ["TZ"]}, "role": "sre"},
}

asked_by(sent) := answer if {
	answer := agent_call.asked with input as sent with data.bailiff.tables.agent_tools as house_kit
}

test_call_is_read_by_the_table_of_tools if {
	asked_by(kit_call("sh", {"script": "ls", "cwd": "/w", "why": "to see"})) == {"request": {
		"tool": "terminal",
		"args": {"command": "ls", "workdir": "/w"},
		"session": {"id": "s", "platform": "cli"},
		"env": ["TZ"],
		"backend": "local",
	}}
	asked_by(kit_call("python", {"source": "1"})).request.args == {"code": "1"}
}

test_tool_runs_on_the_host_unless_it_hands_its_text_to_bailiff if {
	asked_by(kit_call("sh", {"script": "ls"})).request.backend == "local"
	asked_by(kit_call("box", {"script": "ls"})).request.backend == ""
}

test_call_need_not_ask_for_variables if {
	sent := object.union(
		object.remove(kit_call("sh", {"script": "ls"}), ["runtimeContext"]),
		{"runtimeContext": {"bailiff": {"session": {"id": "s"}}}},
	)
	asked_by(sent).request.env == []
}

test_what_is_no_call_is_none_and_says_why if {
	right := kit_call("sh", {"script": "ls"})
	wrong := {
		`the tool "rm" is not in the table agent_tools`: {"tool": {"name": "rm"}},
		"the input names no tool (tool.name)": {"tool": {"name": 7}},
		"the arguments of the tool are no object (args)": {"args": "ls"},
		`the table agent_tools does not say what "shell" is to the tool "sh"`: {"args": {"shell": "zsh"}},
		"the input does not say for which session (runtimeContext.bailiff.session)": {"runtimeContext": "s"},
		`nothing is named "sesion" in runtimeContext.bailiff, want session or env`: {"runtimeContext": {"bailiff": {"sesion": {}}}},
	}
	every reason, part in wrong {
		asked_by(object.union(right, part)) == {"faults": [reason]}
	}
}

test_whatever_is_sent_there_is_an_answer if {
	every sent in [null, [], "ls", 7, {}, {"tool": null}, {"tool": {"name": {}}, "args": {"script": []}}] {
		count(asked_by(sent).faults) > 0
		worded(sent).decision == "deny"
	}
}

worded(sent) := answer if {
	answer := agent_call.decision with input as sent
}

test_decision_has_three_words if {
	words := {
		"allow": {"outcome": "allow", "denials": []},
		"requires-approval": {"outcome": "ask", "denials": [], "approval": {"reasons": said}},
		"deny": {"outcome": "deny", "denials": said},
	}
	every word, judged in words {
		answer := agent_call.decision with input as git_status with data.bailiff.decision as judged
		answer.decision == word
		object.get(answer, "reason", worded_once) == worded_once
	}
}

worded_once := "It deletes (a.b). The policies do not say why. Instead: Move it."

said := [
	{"rule": "a.b", "message": "It deletes.", "match": "x", "instead": "Move it."},
	{"rule": "a.b", "message": "It deletes.", "match": "y", "instead": "Move it."},
	{"rule": "a.c", "message": "By ana.", "instead": "Ask ana.", "hidden": true},
]

test_no_more_is_said_than_there_is if {
	judged := {"outcome": "deny", "denials": [{"rule": "a.b", "message": "It deletes."}]}
	answer := agent_call.decision with input as git_status with data.bailiff.decision as judged
	answer.reason == "It deletes (a.b)."
}

test_what_is_no_decision_is_denied if {
	every judged in [{}, {"outcome": "permit"}, "allow", {"outcome": true}, {"outcome": "not-applicable"}] {
		answer := agent_call.decision with input as git_status with data.bailiff.decision as judged
		answer.decision == "deny"
	}
}

test_input_of_a_kit_has_no_facts_and_is_denied if {
	every sent in [
		kit_call("bash", {"command": "ls"}),
		object.remove(git_status, ["command"]),
		object.remove(git_status, ["session"]),
		object.union(git_status, {"tool": "call"}),
	] {
		answer := agent_call.decision with input as sent with data.bailiff.decision as {"outcome": "allow"}
		answer.decision == "deny"
	}
}

test_what_may_run_elsewhere_only_is_denied if {
	every outcome in ["allow", "ask"] {
		judged := {"outcome": outcome, "backend": {"name": "docker"}, "approval": {"reasons": []}}
		answer := agent_call.decision with input as wishing(git_status, "local") with data.bailiff.decision as judged
		answer == {
			"decision": "deny",
			"reason": "It would run on local, and the policies let it run on docker only (backend.elsewhere). Instead: Have the tool hand it to bailiff.",
		}
	}
	nowhere := agent_call.decision with input as wishing(git_status, "local") with data.bailiff.decision as {"outcome": "allow"}
	nowhere.decision == "deny"
}
