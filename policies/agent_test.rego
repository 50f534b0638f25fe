package bailiff_test

import data.agent.call as agent_call

_worded(sent) := answer if {
	answer := agent_call.decision with input as sent
}

test_decision_has_three_words if {
	words := {
		"allow": {"outcome": "allow", "denials": []},
		"requires-approval": {"outcome": "ask", "denials": [], "approval": {"reasons": _said}},
		"deny": {"outcome": "deny", "denials": _said},
	}
	every word, judged in words {
		answer := agent_call._in_words(judged) with input as _git_status
		answer.decision == word
		object.get(answer, "reason", _worded_once) == _worded_once
	}
}

test_what_is_no_decision_is_denied if {
	every judged in [{}, {"outcome": "permit"}, "allow", {"outcome": true}, {"outcome": "not-applicable"}] {
		answer := agent_call.decision with input as _git_status with data.bailiff.decision as judged
		answer.decision == "deny"
	}
}

test_input_of_a_kit_has_no_facts_and_is_denied if {
	every sent in [
		_kit_call("bash", {"command": "ls"}),
		object.remove(_git_status, ["command"]),
		object.remove(_git_status, ["session"]),
		object.union(_git_status, {"tool": "call"}),
	] {
		answer := agent_call.decision with input as sent with data.bailiff.decision as {"outcome": "allow"}
		answer.decision == "deny"
	}
}

test_what_may_run_elsewhere_only_is_denied if {
	every outcome in ["allow", "ask"] {
		judged := {"outcome": outcome, "backend": {"name": "docker"}, "approval": {"reasons": []}}
		answer := agent_call._in_words(judged) with input as wishing(_git_status, "local")
		answer == {
			"decision": "deny",
			"reason": concat(" ", [
				"It would run on local, and the policies let it run on docker only (backend.elsewhere).",
				"Instead: Have the tool hand it to bailiff.",
			]),
		}
	}
	nowhere := agent_call._in_words({"outcome": "allow"}) with input as wishing(_git_status, "local")
	nowhere.decision == "deny"
}

test_what_is_asked_about_names_its_reasons if {
	agent_call.decision == {
		"decision": "requires-approval",
		"reason": "It deletes (a.b). The policies do not say why. Instead: Move it.",
	}
		with input as _git_status
		with data.bailiff.decision as {"outcome": "ask", "denials": [], "approval": {"reasons": _said}}
	agent_call.decision == {
		"decision": "allow",
	} with input as _git_status with data.bailiff.decision as {"outcome": "allow"}
}
