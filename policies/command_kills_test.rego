package bailiff_test

# What is found of processes that calls end.
_kills(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.kills,
		data.bailiff._examined.kills_by_name,
		data.bailiff._examined.calls,
	}) with input as request("cli", calls)
}

test_signal_one_is_not_everything if {
	_kills([call("kill", ["-1"], ["42"])]).rules == {"command.kills_processes"}
	"command.destroys_system" in _kills([call("kill", ["-9"], ["-1"])]).rules
}

test_first_process_and_all_of_the_administrator if {
	every killer in [
		call("kill", ["-9"], ["1"]), call("kill", [], ["1"]), call("pkill", ["-u"], ["root"]), call("killall", ["-u"], ["root"]),
		call("pkill", ["--euid=root"], []),
	] {
		"command.destroys_system" in _kills([killer]).rules
	}
	every killer in [
		call("kill", ["-HUP"], ["1"]),
		call("kill", ["-0"], ["1"]),
		call("kill", ["-9"], ["11"]),
		call("pkill", ["-u"], ["root", "nginx"]),
	] {
		not "command.destroys_system" in _kills([killer]).rules
	}
}

test_killing_is_found_by_the_whole_call if {
	_kills([call("kill", [], ["7"])]).told == {"command.kills_processes: kill 7"}
	_kills([call("kill", ["-9"], ["7", "8"])]).told == {"command.kills_processes: kill -9 7 8"}
	_kills([call("kill", [], ["%1"])]).told == set()
	_kills([call("kill", [], ["$!"])]).told == set()
	_kills([call("kill", ["-0"], ["7"])]).told == set()
	_kills([call("kill", ["-9"], ["-1"])]).told == {
		"command.destroys_system: kill -9 -1",
		"command.kills_processes: kill -9 -1",
	}
	_kills([call("pkill", [], ["node"])]).told == {"command.kills_processes: pkill node"}
	_kills([call("pkill", ["-f"], [".*"])]).told == {
		"command.destroys_system: pkill -f .*",
		"command.kills_processes: pkill -f .*",
	}
	_kills([call("pkill", ["-u", "root"], [])]).told == {
		"command.destroys_system: pkill -u root",
		"command.kills_processes: pkill -u root",
	}
	_kills([call("killall", [], ["*"])]).told == {"command.destroys_system: killall *", "command.kills_processes: killall *"}
	_kills([call("kill", ["-9"], ["1"])]).told == {"command.destroys_system: kill -9 1", "command.kills_processes: kill -9 1"}
	_kills([call("kill", ["-HUP"], ["1"])]).told == {"command.kills_processes: kill -HUP 1"}
}

test_who_kills_bailiff_by_its_name_switches_off_what_watches if {
	every calls in [
		[call("pkill", ["-f"], ["bailiff serve"])], [call("killall", ["-9"], ["/usr/bin/Bailiff"])],
		[call("kill", [], ["$(pgrep bailiff)"]), call("pgrep", [], ["bailiff"])],
	] {
		"command.disables_protection" in _kills(calls).rules
	}
	every calls in [
		[call("pkill", [], ["bailiffs"])], [call("kill", [], ["%1"]), call("cd", [], ["bailiff"])],
		[call("kill", [], ["7"]), call("pgrep", [], ["watcher"])],
	] {
		not "command.disables_protection" in _kills(calls).rules
	}
}
