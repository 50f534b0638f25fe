package bailiff_test

import data.bailiff

# The rules that findings give for a text of these calls.
_found(calls) := {finding.rule | some finding in findings} if {
	findings := bailiff.findings with input as on_host(request("cli", calls))
		with data.bailiff.tables.platforms as _usual_tables.platforms
}

test_every_named_program_has_its_rule if {
	expected := {
		"sudo": "command.gains_privilege", "useradd": "command.changes_accounts", "insmod": "command.changes_kernel",
		"mount": "command.mounts", "nft": "command.changes_firewall", "docker": "command.uses_container_engine",
		"nsenter": "command.changes_namespaces", "ssh": "command.reaches_another_host", "reboot": "command.destroys_system",
		"pkill": "command.kills_processes", "crontab": "command.writes_startup",
	}
	every name, rule in expected {
		rule in _found([call(name, [], ["x"])])
	}
}

test_looking_is_no_finding if {
	every looking in [
		call("mount", [], []), call("crontab", ["-l"], []), call("docker", [], ["version"]), call("fdisk", ["-l"], []),
		call("iptables", ["-L"], []), call("kubectl", [], ["get", "pods"]), call("bailiff", [], ["approvals", "list"]),
		call("kill", ["-l"], []), call("kill", [], ["%1"]), call("kill", [], ["$!"]), call("systemctl", [], ["status", "x"]),
	] {
		_found([looking]) == set()
	}
}

test_subcommands_count_wherever_they_stand if {
	_found([call("systemctl", [], ["stop", "nginx"])]) == {"command.stops_services"}
	_found([call("service", [], ["nginx", "stop"])]) == {"command.stops_services"}
	_found([call("apt", [], ["remove", "jq"])]) == {"command.removes_packages"}
	_found([call("gh", [], ["auth", "token"])]) == {"command.reads_credentials"}
}

test_features_have_rules if {
	expected := {
		"fork_bomb": "command.destroys_system", "download_and_run": "command.runs_downloaded",
		"decode_and_run": "command.runs_decoded", "unread_program": "command.runs_inline_program",
		"network_redirect": "command.opens_reverse_shell",
	}
	every feature, rule in expected {
		asked := object.union(request("cli", []), {"command": {"features": [feature]}})
		findings := bailiff.findings with input as asked
		{finding.rule | some finding in findings} == {rule}
	}
}

test_findings_of_tables_have_the_whole_call_as_match if {
	_told([call("sudo", [], ["ls"])]) == {"command.gains_privilege: sudo ls"}
	_told([call("chown", [], ["root", "a"])]) == {"command.changes_owner: chown root a"}
	_told([call("tar", ["--to-command"], ["a.tar"])]) == {"command.runs_inline_program: tar --to-command a.tar"}
	_told([call("docker", [], ["stop", "web"])]) == {"command.uses_container_engine: docker stop web"}
	_told([call("kubectl", [], ["delete", "pod", "web"])]) == {"command.uses_container_engine: kubectl delete pod web"}
	_told([call("kubectl", [], ["get", "pods"])]) == set()
	_told([call("git", [], ["status"])]) == set()
}

test_actions_are_words_alone_and_in_pairs if {
	data.bailiff._actions(["stop"]) == {"stop"}
	data.bailiff._actions(["nginx", "stop"]) == {"* stop", "nginx", "nginx stop"}
	data.bailiff._acted("docker", []) == set()
	data.bailiff._acted("systemctl", ["stop", "nginx"]) == {"services"}
}

test_a_call_that_asks_for_help_does_nothing if {
	_found([object.union(call("docker", ["--help"], ["image", "prune"]), {"argv": ["docker", "image", "prune", "--help"]})]) == set()
	_found([call("helm", [], ["help", "install"])]) == set()
	_found([call("docker", [], ["run", "-v", "/:/host", "x", "--help"])]) == {"command.uses_container_engine"}
	_found([object.union(call("frida", ["--version"], []), {"argv": ["frida", "--version"]})]) == set()
	_found([object.union(call("frida", ["--version"], []), {"argv": ["/usr/bin/frida", "--version"]})]) == set()
	added := {"argv": ["frida", "--version"], "wrappers": ["xargs"]}
	_found([object.union(call("frida", ["--version"], []), added)]) == {"command.reads_memory"}
	helped := object.union(call("sudo", ["--help"], ["x"]), {"argv": ["sudo", "x", "--help"]})
	_found([helped, object.union(call("x", ["--help"], []), {"wrappers": ["sudo"]})]) == {"command.gains_privilege"}
}

test_a_call_that_only_looks_is_known_by_one_word_or_two if {
	_found([call("docker", [], ["compose", "logs"])]) == set()
	_found([call("docker", [], ["images"])]) == set()
	_found([call("docker", [], ["compose", "up"])]) == {"command.uses_container_engine"}
}

test_options_before_a_word_that_looks if {
	_found([call("kubectl", [], ["-n", "shop", "get", "pods"])]) == set()
	_found([call("kubectl", [], ["--context=lab", "-n", "shop", "rollout", "status"])]) == set()
	_found([call("kubectl", [], ["-n", "get", "delete", "pod"])]) == {"command.uses_container_engine"}
	_found([call("docker", [], ["-H", "tcp://builder:2375", "ps"])]) == set()
	_found([call("docker", [], ["-H", "unix:///var/run/docker.sock", "ps"])]) == {"command.uses_container_engine"}
}

_spoken(words) := object.union(
	call(words[0], [word | some word in words; startswith(word, "-")], [word |
		some word in array.slice(words, 1, count(words))
		not startswith(word, "-")
	]),
	{"argv": words},
)

test_downloads_from_a_store_send_nothing if {
	_found([_spoken(["aws", "s3", "cp", "s3://bucket/key", "."])]) == set()
	_found([_spoken(["gsutil", "cp", "gs://bucket/key", "data/"])]) == set()
	every words in [
		["aws", "s3", "cp", "key", "s3://bucket"], ["aws", "s3", "cp", "--profile", "s3://x", "key", "s3://bucket"],
		["aws", "s3", "cp", "s3://a/b", "s3://c"], ["aws", "s3", "mv", "s3://a/b", "."],
		["aws", "s3", "sync", "s3://empty", ".", "--delete"], ["aws", "s3", "sync", "s3://a", ".git/hooks"],
		["aws", "s3", "cp", "s3://a/b", "/etc/x"],
		["aws", "s3", "cp", "s3://a", ".", "--recursive"],
	] {
		"command.sends_files" in _found([_spoken(words)])
	}
}

test_a_script_or_a_program_of_the_project_does_not_only_answer if {
	_found([_versioned("k3s-uninstall.sh", "k3s-uninstall.sh", [])]) == {"command.destroys_data"}
	_found([_versioned("gdm-stop", "gdm-stop", [])]) == {"command.stops_services"}
	_found([_versioned("frida", "bin/frida", [])]) == {"command.reads_memory"}
	_found([_versioned("frida", "frida", ["PATH"])]) == {"command.reads_memory"}
}

_versioned(program, word, assigns) := object.union(
	call(program, ["--version"], []),
	{"argv": [word, "--version"], "assigns": assigns},
)

test_words_behind_an_option_at_the_start_are_those_of_the_table if {
	behind := call("nginx", ["-p"], ["x", "stop"])
	_found([object.union(behind, {"argv": ["nginx", "-p", "x", "stop"]})]) == {"command.stops_services"}
	_found([object.union(behind, {"argv": ["nginx", "x", "stop", "-p"]})]) == set()
	_found([object.union(behind, {"argv": ["nginx", "-p=x", "x", "stop"]})]) == set()
}

test_a_resource_is_shown_where_no_word_gives_it_a_value if {
	_found([_puppet(["resource", "user", "root"])]) == set()
	_found([_puppet(["resource", "user", "root", "ensure=absent"])]) == {"command.writes_system"}
	_found([_puppet(["apply", "x.pp"])]) == {"command.writes_system"}
}

_puppet(words) := object.union(call("puppet", [], words), {"argv": array.concat(["puppet"], words)})
