package bailiff_test

import data.bailiff.decision

sudo := on_host(request("cli", [call("sudo", [], ["ls"])]))

asking(more) := {{"rule": "team.rule", "message": "The team wants to know."} | more}

test_nobody_is_asked_in_a_sandbox if {
	answer := decision with input as request("telegram", [call("sudo", [], ["ls"])])
	answer.outcome == "allow"
}

test_unattended_session_cannot_be_asked if {
	answer := decision with input as unattended(sudo)
	answer.outcome == "deny"
	rules(answer) == {"approval.unattended"}
}

test_unattended_session_does_ordinary_work if {
	answer := decision with input as unattended(on_host(request("cli", [call("ls", [], [])])))
	answer.outcome == "allow"
}

test_strictest_terms_hold if {
	answer := decision with input as sudo with data.bailiff.require_approval as {
		{"rule": "a.one", "message": "One.", "timeout_seconds": 60, "quorum": 2},
		{"rule": "b.two", "message": "Two.", "grant_seconds": 30, "scopes": ["once", "always"]},
	}
	answer.approval.timeout_seconds == 60
	answer.approval.grant_seconds == 30
	answer.approval.quorum == 2
	answer.approval.scopes == ["once"]
	rules(answer) == {"a.one", "b.two"}
}

test_always_is_offered_only_by_the_table if {
	answer := decision with input as sudo
		with data.bailiff.tables.approval.terms.scopes as ["once", "session", "always"]
	answer.approval.scopes == ["once", "session", "always"]
}

test_code_is_approved_once_only if {
	answer := decision with input as on_host(program("cli", {"complete": false}))
	answer.outcome == "ask"
	answer.approval.scopes == ["once"]
}

test_match_after_a_change_of_folder_says_so if {
	answer := decision with input as on_host(request("cli", [call("cd", [], ["/srv"]), call("sudo", [], ["ls"])]))
	{reason.match | some reason in answer.approval.reasons} == {"sudo after cd /srv"}
	alone := decision with input as on_host(request("cli", [call("sudo", [], ["ls"])]))
	{reason.match | some reason in alone.approval.reasons} == {"sudo"}
}
