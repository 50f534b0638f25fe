package bailiff_test

_sudo := on_host(request("cli", [call("sudo", [], ["ls"])]))

test_nobody_is_asked_in_a_sandbox if {
	answer := usually(request("telegram", [call("sudo", [], ["ls"])]))
	answer.outcome == "allow"
}

test_unattended_session_cannot_be_asked if {
	answer := usually(unattended(_sudo))
	answer.outcome == "deny"
	rules(answer) == {"approval.unattended"}
}

test_unattended_session_does_ordinary_work if {
	answer := usually(unattended(on_host(request("cli", [call("ls", [], [])]))))
	answer.outcome == "allow"
}

test_only_findings_that_ask_are_reasons if {
	_behind(on_host(request("cli", [call("ls", [], [])]))).questions == set()
	_behind(_sudo).questions == {"command.gains_privilege"}
	_behind(request("telegram", [call("sudo", [], ["ls"])])).questions == set()
	object.get(usually(unattended(_sudo)), "approval", "none") == "none"
	usually(unattended(_sudo)).denials == [{
		"match": "command.gains_privilege",
		"message": "The request needs an approval, and nobody attends the session.",
		"rule": "approval.unattended",
	}]
	usually(_sudo).approval.reasons == [{
		"match": "sudo ls",
		"message": "It acts with another user's rights.",
		"rule": "command.gains_privilege",
	}]
}
