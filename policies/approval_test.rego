package bailiff_test

_sudo := on_host(request("cli", [call("sudo", [], ["ls"])]))

test_nobody_is_asked_in_a_sandbox if {
	_questions(request("telegram", [call("sudo", [], ["ls"])])) == []
}

test_unattended_session_cannot_be_asked if {
	answer := usually(unattended(_sudo))
	answer.outcome == "deny"
	object.get(answer, "approval", "none") == "none"
	answer.denials == [{
		"match": "command.gains_privilege",
		"message": "The request needs an approval, and nobody attends the session.",
		"rule": "approval.unattended",
	}]
}

test_unattended_session_does_ordinary_work if {
	_questions(unattended(on_host(request("cli", [call("ls", [], [])])))) == []
}

test_only_findings_that_ask_are_reasons if {
	_questions(on_host(request("cli", [call("ls", [], [])]))) == []
	_questions(_sudo) == [{
		"match": "sudo ls",
		"message": "It acts with another user's rights.",
		"rule": "command.gains_privilege",
	}]
}
