package bailiff_test

# What is denied of a call for want of an engine, on a backend of a platform.
_unequipped(platform, backend, flags, operands) := {reason.match |
	denied := data.bailiff.deny with input as wishing(request(platform, [call("whale", flags, operands)]), backend)
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.env as _usual_tables.env
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.unequipped as {"whale": {
			"backends": ["docker"],
			"alone": ["help", "compose config"],
			"remote": ["--host"],
		}}
	some reason in denied
	reason.rule == "command.lacks_engine"
}

test_a_program_without_its_engine_is_denied_in_a_sandbox if {
	_unequipped("telegram", "docker", ["-d"], ["run", "postgres"]) == {"whale -d run postgres"}
	_unequipped("telegram", "docker", [], ["compose", "up"]) == {"whale compose up"}
}

test_what_works_without_an_engine_runs if {
	_unequipped("telegram", "docker", ["--version"], []) == set()
	_unequipped("telegram", "docker", [], ["compose", "config"]) == set()
	_unequipped("telegram", "docker", [], ["help", "run"]) == set()
	_unequipped("telegram", "docker", ["--host=ssh://x"], ["ps"]) == set()
}

test_on_the_host_and_on_other_backends_nothing_is_denied_for_want_of_an_engine if {
	_unequipped("cli", "local", [], ["ps"]) == set()
	_unequipped("telegram", "bubblewrap", [], ["ps"]) == set()
}
