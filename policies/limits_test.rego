package bailiff_test

_lasting(seconds) := object.union(_ls("telegram"), {"args": {"timeout": seconds}})

_limits_of(asked) := _settled(asked).limits

test_unasked_timeout_is_the_default if _limits_of(_ls("telegram")).timeout_seconds == 180

test_shorter_timeout_is_granted if _limits_of(_lasting(5)).timeout_seconds == 5

test_longer_timeout_ends_at_the_limit if _limits_of(_lasting(86400)).timeout_seconds == 600

test_negative_timeout_is_none if _limits_of(_lasting(-1)).timeout_seconds == 180

test_code_has_its_own_default if _limits_of(program("telegram", {})).timeout_seconds == 300

test_smallest_limit_holds if {
	limits := {"timeout_seconds": 20, "memory_mb": 256, "cpus": 0.5, "output_bytes": 100}
	answer := _settled_by({"platforms": {"telegram": object.union(_usual_platform, {"limits": limits})}}, _ls("telegram"))
	answer.limits == {"timeout_seconds": 20, "output_bytes": 100, "background_seconds": 0, "processes": 16}
	answer.backend.memory_mb == 256
	answer.backend.cpus == 0.5
	answer.backend.pids == 256
}

test_least_of_each_kind_holds if {
	_settled(_git_status).limits == {
		"background_seconds": 0,
		"output_bytes": 50000,
		"processes": 16,
		"timeout_seconds": 180,
	}
	_settled(object.union(_git_status, {"args": {"timeout": 5}})).limits == {
		"background_seconds": 0,
		"output_bytes": 50000,
		"processes": 16,
		"timeout_seconds": 5,
	}
	_settled(object.union(_git_status, {"args": {"timeout": 5000}})).limits == {
		"background_seconds": 0,
		"output_bytes": 50000,
		"processes": 16,
		"timeout_seconds": 600,
	}
	_settled(_git_status).limits == {
		"background_seconds": 0,
		"output_bytes": 9,
		"processes": 0,
		"timeout_seconds": 7,
	}
		with data.bailiff.limits as {
			{"timeout_seconds": 60},
			{"timeout_seconds": 7, "output_bytes": 9},
			{"cpus": 1, "memory_mb": 1, "pids": 1},
		}
	_settled(on_host(program("cli", {}))).limits == {
		"background_seconds": 0,
		"output_bytes": 50000,
		"processes": 16,
		"timeout_seconds": 300,
	}
}
