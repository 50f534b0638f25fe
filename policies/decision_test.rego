package bailiff_test

_git_status := request("telegram", [call("git", [], ["status"])])

test_harmless_request_is_the_whole_document if {
	usually(_git_status) == {
		"outcome": "allow",
		"denials": [],
		"backend": {
			"name": "docker", "image": "", "scope": "session", "idle_seconds": 3600,
			"max_seconds": 86400, "persistent": false,
			"network": "none", "egress": [],
			"cpus": 1, "memory_mb": 5120, "disk_mb": 0, "workspace_mb": 0, "workspace_files": 0, "pids": 256,
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
	_rules_of(_faults_of(request("irc", [call("ls", [], [])]))) == {"session.unknown_platform"}
}

test_denials_are_all_there_and_no_approval if {
	usually(request("pigeon", [call("ls", [], [])])).denials == [
		{
			"match": "pigeon",
			"message": "The platform \"pigeon\" is not in the table of platforms, where a name counts with its capitals.",
			"rule": "session.unknown_platform",
		},
	]
	[key | some key in ["approval", "outcome", "denials", "tools"]; usually(request("pigeon", []))[key]] == [
		"outcome",
		"denials",
		"tools",
	]
	usually(_git_status).outcome == "allow"
	usually(on_host(request("cli", [call("sudo", [], ["ls"])]))).outcome == "ask"
	[outcome | outcome := usually({}).outcome] == []
}
