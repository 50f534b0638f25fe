package bailiff_test

import data.bailiff

invalid(answer) if rules(answer) == {"policy.invalid"}

test_malformed_contributions_deny if {
	limit := bailiff.decision with input as git_status with data.bailiff.tables as usual
		with data.bailiff.limits as {{"timeout_seconds": "60", "output_bytes": 9}}
	"policy.invalid" in rules(limit)
	negative := bailiff.decision with input as git_status with data.bailiff.tables as usual
		with data.bailiff.limits as {{"timeout_seconds": -1, "output_bytes": 9}}
	invalid(negative)
	name := bailiff.decision with input as git_status with data.bailiff.tables as usual with data.bailiff.withhold_env as {"GITHUB_TOKEN"}
	invalid(name)
	terms := bailiff.decision with input as git_status with data.bailiff.tables as usual
		with data.bailiff.require_approval as {{"rule": "a.b", "message": "x", "quorum": "two"}}
	invalid(terms)
}

test_sandbox_without_limits_denies if {
	boundless := bailiff.decision with input as git_status with data.bailiff.tables as usual
		with data.bailiff.limits as {{"timeout_seconds": 9, "output_bytes": 9, "cpus": 1, "memory_mb": 512}}
	invalid(boundless)
	boundless.denials[0].match == "pids"
	host := bailiff.decision with input as on_host(ls("cli")) with data.bailiff.tables as usual
	host.outcome == "allow"
}

test_limit_that_is_none_is_named if {
	answer := bailiff.decision with input as git_status with data.bailiff.tables as usual
		with data.bailiff.tables.platforms.telegram.limits as {"idle_seconds": 0, "pids": 9}
	invalid(answer)
	answer.denials[0].match == `{"idle_seconds":0,"pids":9}`
	answer.denials[0].message == "The limit idle_seconds is 0, which is no number above zero."
	count(answer.denials) == 1
}

test_misspelt_limit_is_named if {
	answer := bailiff.decision with input as git_status with data.bailiff.tables as usual
		with data.bailiff.tables.platforms.telegram.limits as {"idle_secnds": 60}
	invalid(answer)
	answer.denials[0].message == "There is no limit called idle_secnds."
}
