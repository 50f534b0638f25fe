package bailiff_test

# What is found of settings, sockets and the kernel.
_changed(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.bailiff,
		data.bailiff._examined.sends,
		data.bailiff._examined.tunes,
		data.bailiff._examined.go_runs,
		data.bailiff._examined.apts,
		data.bailiff._examined.calls,
		data.bailiff._found_in_text,
	}) with input as request("cli", calls)
}

test_sockets_of_engines_are_found if {
	asked := call("curl", ["--unix-socket"], ["/var/run/docker.sock", "http://x/"])
	"command.uses_container_engine" in _changed([asked]).rules
}

test_commands_of_bailiff_may_only_look if {
	_changed([call("bailiff", [], ["status"])]).told == set()
	_changed([call("bailiff", [], ["approvals", "list"])]).told == set()
	_changed([call("bailiff", [], ["approvals", "approve", "a1"])]).told == {
		"command.changes_own_settings: bailiff approvals approve a1",
	}
	_changed([call("bailiff", [], ["policies", "rollback", "r1"])]).told == {
		"command.changes_own_settings: bailiff policies rollback r1",
	}
}

test_variables_of_bailiff_and_of_the_agent_are_theirs if {
	_changed([object.union(call("make", [], []), {"assigns": ["BAILIFF_CONFIG"]})]).told == {"command.changes_own_settings: "}
	_changed([object.union(call("make", [], []), {"assigns": ["HERMES_HOME"]})]).told == {"command.changes_own_settings: "}
	_changed([object.union(call("make", [], []), {"assigns": ["CFLAGS"]})]).told == set()
}

test_sockets_and_the_kernel_are_found if {
	_changed([call("curl", ["--unix-socket"], ["/var/run/docker.sock", "http://x/"])]).told == {
		"command.uses_container_engine: curl --unix-socket /var/run/docker.sock http://x/",
	}
	_changed([call("curl", [], ["http://x/docker"])]).told == set()
	_changed([call("sysctl", ["-w"], ["vm.swappiness=1"])]).told == {
		"command.changes_kernel: sysctl -w vm.swappiness=1",
		"command.changes_kernel: vm.swappiness=1",
	}
	_changed([call("sysctl", [], ["vm.swappiness"])]).told == set()
}

test_program_built_from_its_source_is_the_same if {
	_changed([call("go", [], ["run", "./cmd/bailiff", "approvals", "approve", "1"])]).rules == {"command.changes_own_settings"}
	_changed([call("go", [], ["run", "./cmd/bailiff", "status"])]).rules == set()
	_changed([call("apt-get", ["-o"], ["APT::Update::Pre-Invoke::=id", "update"])]).rules == {"command.runs_inline_program"}
	_changed([call("apt-get", ["-o"], ["Debug::x=1", "update"])]).rules == set()
}
