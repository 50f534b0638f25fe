package bailiff_test

# What is denied for want of an engine in a sandbox of a backend.
_unequipped(platform, backend, program, flags, operands) := {reason.instead |
	some reason in data.bailiff.decision.denials with input as wishing(request(platform, [call(program, flags, operands)]), backend)
	reason.rule == "command.lacks_engine"
}

test_container_engines_are_refused_in_a_sandbox_with_a_remedy if {
	some told in _unequipped("telegram", "docker", "docker", ["-d"], ["run", "-d", "postgres"])
	contains(told, "ask your user to start on their machine")
	every program in ["docker", "docker-compose", "nerdctl", "podman", "podman-compose"] {
		count(_unequipped("telegram", "docker", program, [], ["up"])) == 1
	}
	count(_unequipped("telegram", "docker", "docker", [], ["compose", "up"])) == 1
	count(_unequipped("telegram", "docker", "docker", [], ["ps"])) == 1
}

test_what_works_without_an_engine_runs if {
	_unequipped("telegram", "docker", "docker", ["--version"], []) == set()
	_unequipped("telegram", "docker", "docker", [], ["compose", "config"]) == set()
	_unequipped("telegram", "docker", "docker", ["--help"], ["run", "--help"]) == set()
	_unequipped("telegram", "docker", "docker", ["--host=ssh://x"], ["ps"]) == set()
	_unequipped("telegram", "docker", "git", [], ["run"]) == set()
}

test_on_the_host_and_where_the_table_says_so_nothing_is_refused_for_want_of_an_engine if {
	_unequipped("cli", "local", "docker", [], ["ps"]) == set()
	_unequipped("telegram", "docker", "docker", [], ["ps"]) == set() with data.bailiff.tables.unequipped.docker.backends as []
}
