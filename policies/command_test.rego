package bailiff_test

# What is found in a text of these calls by the tables and the packs.
_by_tables(calls) := _told_of(found) if {
	found := data.bailiff._examined.calls with input as request("cli", calls)
}

test_every_named_program_has_its_rule if {
	expected := {
		"sudo": "command.gains_privilege", "useradd": "command.changes_accounts", "insmod": "command.changes_kernel",
		"mount": "command.mounts", "nft": "command.changes_firewall", "docker": "command.uses_container_engine",
		"nsenter": "command.changes_namespaces", "ssh": "command.reaches_another_host", "reboot": "command.destroys_system",
		"pkill": "command.kills_processes", "crontab": "command.writes_startup",
	}
	every name, rule in expected {
		rule in _by_tables([call(name, [], ["x"])]).rules
	}
}

test_looking_is_no_finding if {
	every looking in [
		call("mount", [], []), call("crontab", ["-l"], []), call("docker", [], ["version"]), call("fdisk", ["-l"], []),
		call("iptables", ["-L"], []), call("kubectl", [], ["get", "pods"]), call("bailiff", [], ["approvals", "list"]),
		call("kill", ["-l"], []), call("kill", [], ["%1"]), call("kill", [], ["$!"]), call("systemctl", [], ["status", "x"]),
	] {
		_all_found([looking]).rules == set()
	}
}

test_subcommands_count_wherever_they_stand if {
	_by_tables([call("systemctl", [], ["stop", "nginx"])]).rules == {"command.stops_services"}
	_by_tables([call("service", [], ["nginx", "stop"])]).rules == {"command.stops_services"}
	_by_tables([call("apt", [], ["remove", "jq"])]).rules == {"command.removes_packages"}
	_by_tables([call("gh", [], ["auth", "token"])]).rules == {"command.reads_credentials"}
}

test_features_have_rules if {
	expected := {
		"fork_bomb": "command.destroys_system", "download_and_run": "command.runs_downloaded",
		"decode_and_run": "command.runs_decoded", "unread_program": "command.runs_inline_program",
		"network_redirect": "command.opens_reverse_shell",
	}
	every feature, rule in expected {
		asked := object.union(request("cli", []), {"command": {"features": [feature]}})
		found := data.bailiff._found_in_text with input as asked
		{finding.rule | some finding in found} == {rule}
	}
}

test_findings_of_tables_have_the_whole_call_as_match if {
	_by_tables([call("sudo", [], ["ls"])]).told == {"command.gains_privilege: sudo ls"}
	_by_tables([call("chown", [], ["root", "a"])]).told == {"command.changes_owner: chown root a"}
	_by_tables([call("tar", ["--to-command"], ["a.tar"])]).told == {"command.runs_inline_program: tar --to-command a.tar"}
	_by_tables([call("docker", [], ["stop", "web"])]).told == {"command.uses_container_engine: docker stop web"}
	_by_tables([call("kubectl", [], ["delete", "pod", "web"])]).told == {"command.uses_container_engine: kubectl delete pod web"}
	_by_tables([call("kubectl", [], ["get", "pods"])]).told == set()
	_by_tables([call("git", [], ["status"])]).told == set()
}

test_actions_are_words_alone_and_in_pairs if {
	data.bailiff._actions(["stop"]) == {"stop"}
	data.bailiff._actions(["nginx", "stop"]) == {"* stop", "nginx", "nginx stop"}
	data.bailiff._acted("docker", []) == set()
	data.bailiff._acted("acme", ["stop", "web"]) == {"services"} with data.bailiff.tables.actions as {"acme": {"stop": ["services"]}}
}

test_a_call_that_asks_for_help_does_nothing if {
	behind := {"argv": ["docker", "image", "prune", "--help"]}
	_by_tables([object.union(call("docker", ["--help"], ["image", "prune"]), behind)]).rules == set()
	_by_tables([call("helm", [], ["help", "install"])]).rules == set()
	_by_tables([call("docker", [], ["run", "-v", "/:/host", "x", "--help"])]).rules == {"command.uses_container_engine"}
	_by_tables([object.union(call("frida", ["--version"], []), {"argv": ["frida", "--version"]})]).rules == set()
	_by_tables([object.union(call("frida", ["--version"], []), {"argv": ["/usr/bin/frida", "--version"]})]).rules == set()
	added := {"argv": ["frida", "--version"], "wrappers": ["xargs"]}
	_by_tables([object.union(call("frida", ["--version"], []), added)]).rules == {"command.reads_memory"}
	helped := object.union(call("sudo", ["--help"], ["x"]), {"argv": ["sudo", "x", "--help"]})
	_by_tables([helped, object.union(call("x", ["--help"], []), {"wrappers": ["sudo"]})]).rules == {"command.gains_privilege"}
}

test_a_call_that_only_looks_is_known_by_one_word_or_two if {
	_by_tables([call("docker", [], ["compose", "logs"])]).rules == set()
	_by_tables([call("docker", [], ["images"])]).rules == set()
	_by_tables([call("docker", [], ["compose", "up"])]).rules == {"command.uses_container_engine"}
}

test_options_before_a_word_that_looks if {
	_by_tables([call("kubectl", [], ["-n", "shop", "get", "pods"])]).rules == set()
	_by_tables([call("kubectl", [], ["--context=lab", "-n", "shop", "rollout", "status"])]).rules == set()
	_by_tables([call("kubectl", [], ["-n", "get", "delete", "pod"])]).rules == {"command.uses_container_engine"}
	_by_tables([call("docker", [], ["-H", "tcp://builder:2375", "ps"])]).rules == set()
	_by_tables([call("docker", [], ["-H", "unix:///var/run/docker.sock", "ps"])]).rules == {"command.uses_container_engine"}
}

_spoken(words) := object.union(
	call(words[0], [word | some word in words; startswith(word, "-")], [word |
		some word in array.slice(words, 1, count(words))
		not startswith(word, "-")
	]),
	{"argv": words},
)

test_downloads_from_a_store_send_nothing if {
	_by_tables([_spoken(["aws", "s3", "cp", "s3://bucket/key", "."])]).rules == set()
	_by_tables([_spoken(["gsutil", "cp", "gs://bucket/key", "data/"])]).rules == set()
	every words in [
		["aws", "s3", "cp", "key", "s3://bucket"], ["aws", "s3", "cp", "--profile", "s3://x", "key", "s3://bucket"],
		["aws", "s3", "cp", "s3://a/b", "s3://c"], ["aws", "s3", "mv", "s3://a/b", "."],
		["aws", "s3", "sync", "s3://empty", ".", "--delete"], ["aws", "s3", "sync", "s3://a", ".git/hooks"],
		["aws", "s3", "cp", "s3://a/b", "/etc/x"],
		["aws", "s3", "cp", "s3://a", ".", "--recursive"],
	] {
		"command.sends_files" in _by_tables([_spoken(words)]).rules
	}
}

test_a_script_or_a_program_of_the_project_does_not_only_answer if {
	_by_tables([_versioned("k3s-uninstall.sh", "k3s-uninstall.sh", [])]).rules == {"command.destroys_data"}
	_by_tables([_versioned("gdm-stop", "gdm-stop", [])]).rules == {"command.stops_services"}
	_by_tables([_versioned("frida", "bin/frida", [])]).rules == {"command.reads_memory"}
	_by_tables([_versioned("frida", "frida", ["PATH"])]).rules == {"command.reads_memory"}
}

_versioned(program, word, assigns) := object.union(
	call(program, ["--version"], []),
	{"argv": [word, "--version"], "assigns": assigns},
)

test_words_behind_an_option_at_the_start_are_those_of_the_table if {
	behind := call("nginx", ["-p"], ["x", "stop"])
	_by_tables([object.union(behind, {"argv": ["nginx", "-p", "x", "stop"]})]).rules == {"command.stops_services"}
	_by_tables([object.union(behind, {"argv": ["nginx", "x", "stop", "-p"]})]).rules == set()
	_by_tables([object.union(behind, {"argv": ["nginx", "-p=x", "x", "stop"]})]).rules == set()
}

test_a_resource_is_shown_where_no_word_gives_it_a_value if {
	_by_tables([_puppet(["resource", "user", "root"])]).rules == set()
	_by_tables([_puppet(["resource", "user", "root", "ensure=absent"])]).rules == {"command.writes_system"}
	_by_tables([_puppet(["apply", "x.pp"])]).rules == {"command.writes_system"}
}

_puppet(words) := object.union(call("puppet", [], words), {"argv": array.concat(["puppet"], words)})
