package bailiff_test

test_signal_one_is_not_everything if {
	_found([call("kill", ["-1"], ["42"])]) == {"command.kills_processes"}
	"command.destroys_system" in _found([call("kill", ["-9"], ["-1"])])
}

test_first_process_and_all_of_the_administrator if {
	every killer in [
		call("kill", ["-9"], ["1"]), call("kill", [], ["1"]), call("pkill", ["-u"], ["root"]), call("killall", ["-u"], ["root"]),
		call("pkill", ["--euid=root"], []),
	] {
		"command.destroys_system" in _found([killer])
	}
	every killer in [
		call("kill", ["-HUP"], ["1"]),
		call("kill", ["-0"], ["1"]),
		call("kill", ["-9"], ["11"]),
		call("pkill", ["-u"], ["root", "nginx"]),
	] {
		not "command.destroys_system" in _found([killer])
	}
}

test_killing_is_found_by_the_whole_call if {
	_told([call("kill", [], ["7"])]) == {"command.kills_processes: kill 7"}
	_told([call("kill", ["-9"], ["7", "8"])]) == {"command.kills_processes: kill -9 7 8"}
	_told([call("kill", [], ["%1"])]) == set()
	_told([call("kill", [], ["$!"])]) == set()
	_told([call("kill", ["-0"], ["7"])]) == set()
	_told([call("kill", ["-9"], ["-1"])]) == {
		"command.destroys_system: kill -9 -1",
		"command.kills_processes: kill -9 -1",
	}
	_told([call("pkill", [], ["node"])]) == {"command.kills_processes: pkill node"}
	_told([call("pkill", ["-f"], [".*"])]) == {
		"command.destroys_system: pkill -f .*",
		"command.kills_processes: pkill -f .*",
	}
	_told([call("pkill", ["-u", "root"], [])]) == {
		"command.destroys_system: pkill -u root",
		"command.kills_processes: pkill -u root",
	}
	_told([call("killall", [], ["*"])]) == {"command.destroys_system: killall *", "command.kills_processes: killall *"}
	_told([call("kill", ["-9"], ["1"])]) == {"command.destroys_system: kill -9 1", "command.kills_processes: kill -9 1"}
	_told([call("kill", ["-HUP"], ["1"])]) == {"command.kills_processes: kill -HUP 1"}
}
