package bailiff_test

lasting(seconds) := object.union(ls("telegram"), {"args": {"timeout": seconds}})

limits_of(asked) := usually(asked).limits

test_unasked_timeout_is_the_default if limits_of(ls("telegram")).timeout_seconds == 180

test_shorter_timeout_is_granted if limits_of(lasting(5)).timeout_seconds == 5

test_longer_timeout_ends_at_the_limit if limits_of(lasting(86400)).timeout_seconds == 600

test_negative_timeout_is_none if limits_of(lasting(-1)).timeout_seconds == 180

test_code_has_its_own_default if limits_of(program("telegram", {})).timeout_seconds == 300

test_smallest_limit_holds if {
	limits := {"timeout_seconds": 20, "memory_mb": 256, "cpus": 0.5, "output_bytes": 100}
	answer := by({"platforms": {"telegram": object.union(usual_platform, {"limits": limits})}}, ls("telegram"))
	answer.limits == {"timeout_seconds": 20, "output_bytes": 100, "background_seconds": 0, "processes": 16}
	answer.backend.memory_mb == 256
	answer.backend.cpus == 0.5
	answer.backend.pids == 256
}
