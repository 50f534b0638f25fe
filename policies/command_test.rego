package bailiff_test

import data.bailiff

# The rules that findings give for a text of these calls.
found(calls) := {finding.rule | some finding in findings} if {
	findings := bailiff.findings with input as on_host(request("cli", calls))
}

test_every_named_program_has_its_rule if {
	expected := {
		"sudo": "command.gains_privilege", "useradd": "command.changes_accounts", "insmod": "command.changes_kernel",
		"mount": "command.mounts", "nft": "command.changes_firewall", "docker": "command.uses_container_engine",
		"nsenter": "command.changes_namespaces", "ssh": "command.reaches_another_host", "reboot": "command.destroys_system",
		"pkill": "command.kills_processes", "crontab": "command.writes_startup",
	}
	every name, rule in expected {
		rule in found([call(name, [], ["x"])])
	}
}

test_looking_is_no_finding if {
	every looking in [
		call("mount", [], []), call("crontab", ["-l"], []), call("docker", [], ["version"]), call("fdisk", ["-l"], []),
		call("iptables", ["-L"], []), call("kubectl", [], ["get", "pods"]), call("bailiff", [], ["approvals", "list"]),
		call("kill", ["-l"], []), call("kill", [], ["%1"]), call("kill", [], ["$!"]), call("systemctl", [], ["status", "x"]),
	] {
		found([looking]) == set()
	}
}

test_subcommands_count_wherever_they_stand if {
	found([call("systemctl", [], ["stop", "nginx"])]) == {"command.stops_services"}
	found([call("service", [], ["nginx", "stop"])]) == {"command.stops_services"}
	found([call("apt", [], ["remove", "jq"])]) == {"command.removes_packages"}
	found([call("gh", [], ["auth", "token"])]) == {"command.reads_credentials"}
}

test_signal_one_is_not_everything if {
	found([call("kill", ["-1"], ["42"])]) == {"command.kills_processes"}
	"command.destroys_system" in found([call("kill", ["-9"], ["-1"])])
}

test_packages_of_the_project_are_ordinary if {
	found([call("npm", [], ["uninstall", "lodash"])]) == set()
	found([call("npm", ["-g"], ["uninstall", "lodash"])]) == {"command.removes_packages"}
}

test_preloading_is_found_before_and_in_a_call if {
	found([object.union(call("ls", [], []), {"assigns": ["LD_PRELOAD"]})]) == {"command.preloads_library"}
	found([call("export", [], ["LD_PRELOAD=x.so"])]) == {"command.preloads_library"}
	found([object.union(call("make", [], []), {"assigns": ["CFLAGS"]})]) == set()
}

test_sockets_of_engines_are_doors if {
	asked := call("curl", ["--unix-socket"], ["/var/run/docker.sock", "http://x/"])
	"command.uses_container_engine" in found([asked])
}

test_features_have_rules if {
	expected := {
		"fork_bomb": "command.destroys_system", "download_and_run": "command.runs_downloaded",
		"decode_and_run": "command.runs_decoded", "inline_program": "command.runs_inline_program",
		"network_redirect": "command.opens_reverse_shell",
	}
	every feature, rule in expected {
		asked := object.union(request("cli", []), {"command": {"features": [feature]}})
		findings := bailiff.findings with input as asked
		{finding.rule | some finding in findings} == {rule}
	}
}

hidden if {
	some finding in bailiff.findings
	finding.rule == "command.hides_meaning"
}

test_hidden_meaning_is_found if {
	hidden with input as object.union(request("cli", []), {"command": {"complete": false}})
	hidden with input as object.union(request("cli", []), {"command": {"parsed": false}})
	hidden with input as object.remove(request("cli", []), {"command"})
	not hidden with input as request("cli", [])
}

test_standard_input_of_an_interpreter_hides_what_runs if {
	hidden with input as fed_with("sh")
	hidden with input as fed_with("xargs")
	not hidden with input as fed_with("cat")
}

fed_with(name) := object.union(request("cli", [call(name, [], [])]), {"args": {"stdin": "rm -rf /"}})
