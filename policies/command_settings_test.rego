package bailiff_test

test_sockets_of_engines_are_found if {
	asked := call("curl", ["--unix-socket"], ["/var/run/docker.sock", "http://x/"])
	"command.uses_container_engine" in _found([asked])
}

test_commands_of_bailiff_may_only_look if {
	_told([call("bailiff", [], ["status"])]) == set()
	_told([call("bailiff", [], ["approvals", "list"])]) == set()
	_told([call("bailiff", [], ["approvals", "approve", "a1"])]) == {
		"command.changes_own_settings: bailiff approvals approve a1",
	}
	_told([call("bailiff", [], ["policies", "rollback", "r1"])]) == {
		"command.changes_own_settings: bailiff policies rollback r1",
	}
}

test_variables_of_bailiff_and_of_the_agent_are_theirs if {
	_told([object.union(call("make", [], []), {"assigns": ["BAILIFF_CONFIG"]})]) == {"command.changes_own_settings: "}
	_told([object.union(call("make", [], []), {"assigns": ["HERMES_HOME"]})]) == {"command.changes_own_settings: "}
	_told([object.union(call("make", [], []), {"assigns": ["CFLAGS"]})]) == set()
}

test_sockets_and_the_kernel_are_found if {
	_told([call("curl", ["--unix-socket"], ["/var/run/docker.sock", "http://x/"])]) == {
		"command.uses_container_engine: curl --unix-socket /var/run/docker.sock http://x/",
	}
	_told([call("curl", [], ["http://x/docker"])]) == set()
	_told([call("sysctl", ["-w"], ["vm.swappiness=1"])]) == {
		"command.changes_kernel: sysctl -w vm.swappiness=1",
		"command.changes_kernel: vm.swappiness=1",
	}
	_told([call("sysctl", [], ["vm.swappiness"])]) == set()
}

test_program_built_from_its_source_is_the_same if {
	_found([call("go", [], ["run", "./cmd/bailiff", "approvals", "approve", "1"])]) == {"command.changes_own_settings"}
	_found([call("go", [], ["run", "./cmd/bailiff", "status"])]) == set()
	_found([call("apt-get", ["-o"], ["APT::Update::Pre-Invoke::=id", "update"])]) == {"command.runs_inline_program"}
	_found([call("apt-get", ["-o"], ["Debug::x=1", "update"])]) == set()
}
