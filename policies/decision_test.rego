package bailiff_test

git_status := request("telegram", [call("git", [], ["status"])])

test_harmless_request_is_the_whole_document if {
	usually(git_status) == {
		"outcome": "allow",
		"denials": [],
		"backend": {
			"name": "docker", "image": "", "scope": "session", "idle_seconds": 3600,
			"max_seconds": 86400, "persistent": false,
			"network": "none", "egress": [],
			"cpus": 1, "memory_mb": 5120, "disk_mb": 0, "pids": 256,
			"read_only": true, "mounts": [],
		},
		"env": {"forward": [], "withheld": [], "set": {}, "sealed": []},
		"limits": {"timeout_seconds": 180, "output_bytes": 50000, "background_seconds": 0, "processes": 16},
		"tools": [],
	}
}

test_question_carries_its_terms if {
	answer := usually(on_host(request("cli", [writing("rm", ["-r"], "./build")])))
	answer.outcome == "ask"
	answer.approval == {
		"reasons": [{
			"rule": "command.deletes_recursively",
			"message": "It deletes folders with everything in them.",
			"match": "./build",
		}],
		"scopes": ["once", "session"],
		"timeout_seconds": 300,
		"grant_seconds": 3600,
		"quorum": 1,
	}
}

test_denial_beats_question if {
	both := [writing("rm", ["-r"], "/"), call("sudo", [], ["ls"])]
	answer := usually(on_host(request("cli", both)))
	answer.outcome == "deny"
	rules(answer) == {"command.destroys_system"}
}

test_unknown_platform_is_denied if {
	answer := usually(request("irc", [call("ls", [], [])]))
	answer.outcome == "deny"
	rules(answer) == {"session.unknown_platform"}
}

test_finding_without_a_rule_denies if {
	answer := usually(git_status) with data.bailiff.findings as {{"message": "x"}}
	answer.outcome == "deny"
}

test_table_can_deny_what_is_allowed_in_a_sandbox if {
	answer := by({"verdicts": {"command.gains_privilege": {"host": "deny", "sandbox": "deny"}}}, request("telegram", [call("sudo", [], ["ls"])]))
	answer.outcome == "deny"
}

test_verdict_that_is_no_word_denies if {
	answer := by({"verdicts": {"command.gains_privilege": {"sandbox": "alow"}}}, request("telegram", [call("sudo", [], ["ls"])]))
	answer.outcome == "deny"
}

test_hidden_rule_marks_its_reasons if {
	wipe := by({"hidden_rules": {"command.destroys_system": true}}, on_host(request("cli", [writing("rm", ["-r"], "/")])))
	{denial.hidden | some denial in wipe.denials} == {true}
	asked := by({"hidden_rules": {"command.gains_privilege": true}}, on_host(request("cli", [call("sudo", [], ["ls"])])))
	{reason.hidden | some reason in asked.approval.reasons} == {true}
}

test_table_says_what_would_be_allowed_instead if {
	asked := by({"instead": {"command.gains_privilege": "Do it as yourself."}}, on_host(request("cli", [call("sudo", [], ["ls"])])))
	{reason.instead | some reason in asked.approval.reasons} == {"Do it as yourself."}
}

test_reason_may_say_itself_what_would_be_allowed if {
	said := {"rule": "mine.night", "message": "Nobody deploys at night.", "instead": "Deploy in the morning."}
	answer := by({"instead": {"mine.night": "Sleep."}}, git_status) with data.bailiff.deny as {said}
	answer.denials == [said]
}

test_reason_may_hide_itself if {
	answer := usually(git_status)
		with data.bailiff.deny as {{"rule": "mine.secret", "message": "No.", "hidden": true}}
	answer.denials == [{"rule": "mine.secret", "message": "No.", "hidden": true}]
}
