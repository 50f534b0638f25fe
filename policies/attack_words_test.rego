package bailiff_test

_attacks_by(calls) := "command.attacks_host" in _told_of(found).rules if {
	found := {finding |
		some aspect in ["speaking", "attack_words"]
		aspect in data.bailiff._aspects
		some finding in data.bailiff._examined[aspect]
	} with input as request("cli", calls)
}

test_words_of_unknown_programs_tell_of_attacks if {
	every words in [
		["rcrack", "-i", "a.test"], ["brute-force", "a.test"], ["scan", "192.0.2.0/24"], ["probe", "192.0.2.1"],
		["-u", "https://a.test/?name=x*"], ["-w", "wordlists/names.txt"], ["check", "rockyou.txt"],
	] {
		_attacks_by([call("unheard-of", [], words)])
	}
	_attacks_by([call("unheard-of", ["--wordlist"], ["a.txt"])])
	_attacks_by([call("unheard-of", ["--lhost=192.0.2.1"], ["a"])])
	_attacks_by([call("python3", [], ["./tool.py", "scan", "192.0.2.1"])])
}

test_words_of_builds_and_of_this_machine_tell_of_none if {
	every words in [
		["scan", "src"], ["scan", "127.0.0.1"], ["check", "names.txt"], ["-u", "https://a.test/?name=x"], ["track", "a"],
		["deploy.brute-force.sh"],
	] {
		not _attacks_by([call("unheard-of", [], words)])
	}
	not _attacks_by([call("grep", [], ["rcrack", "notes.txt"])])
	not _attacks_by([call("git", ["--wordlist"], ["log"])])
	not _attacks_by([call("python3", ["-c"], ["scan 192.0.2.1 .py"])])
}

test_a_page_that_is_given_a_command_runs_it if {
	every address in [
		"http://a.test/x.php?cmd=id", "http://a.test/?a=1&exec=cat%20a", "https://a.test/x?command=/bin/ls", "http://a.test/?cmd=ls;id",
		"http://a.test/?shell=x+/etc/passwd",
	] {
		_given_to_page(call("curl", ["-s"], [address])) == {"command.attacks_host"}
	}
	_given_to_page(call("http", [], ["GET", "http://a.test/s.php", "cmd==id"])) == {"command.attacks_host"}
	every address in ["http://a.test/x?cmd=status", "http://a.test/?q=cat", "http://a.test/?id=whoami", "http://a.test/?command=build"] {
		_given_to_page(call("curl", ["-s"], [address])) == set()
	}
}

_given_to_page(one) := {finding.rule | some finding in found; finding.rule == "command.attacks_host"} if {
	found := data.bailiff._examined.hosts with input as _text_with([one], {"hosts": ["a.test"]})
}

test_a_script_with_the_name_of_a_tool_of_attack_attacks if {
	_attacks_by([call("python3", [], ["tools/acmestrike.py", "-t", "a.test"])]) with data.bailiff.tables.programs as _striking
	_attacks_by([call("python3", [], ["acmestrike.py"])]) with data.bailiff.tables.programs as _striking
	not _attacks_by([call("python3", [], ["acmestrike_test.py"])]) with data.bailiff.tables.programs as _striking
}

_striking := object.union(data.bailiff.tables.programs, {"acmestrike": ["attacks"]})

test_a_network_that_is_gone_through_is_attacked if {
	calls := [call("ping", [], [sprintf("192.0.2.%d", [n])]) | some n in numbers.range(1, 20)]
	hosts := {"hosts": [host | some one in calls; host := one.operands[0]]}
	_goes_through(calls, hosts)
	not _goes_through(array.slice(calls, 0, 3), {"hosts": array.slice(hosts.hosts, 0, 3)})
	_goes_through([call("ping", [], ["192.0.2.$(…)"])], {"hosts": []})
	not _goes_through([call("ping", [], ["$(…)"])], {"hosts": []})
}

_goes_through(calls, facts) if {
	asked := request("cli", calls)
	told := _told_of(data.bailiff._examined.hosts).rules with input as object.union(asked, {"command": object.union(asked.command, facts)})
	"command.attacks_host" in told
}
