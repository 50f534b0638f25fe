package bailiff_test

invalid(answer) if rules(answer) == {"policy.invalid"}

test_malformed_contributions_deny if {
	limit := usually(git_status)
		with data.bailiff.limits as {{"timeout_seconds": "60", "output_bytes": 9}}
	"policy.invalid" in rules(limit)
	negative := usually(git_status)
		with data.bailiff.limits as {{"timeout_seconds": -1, "output_bytes": 9}}
	invalid(negative)
	name := usually(git_status) with data.bailiff.withhold_env as {"GITHUB_TOKEN"}
	invalid(name)
	terms := usually(git_status)
		with data.bailiff.require_approval as {{"rule": "a.b", "message": "x", "quorum": "two"}}
	invalid(terms)
}

test_sandbox_without_limits_denies if {
	boundless := usually(git_status)
		with data.bailiff.limits as {{"timeout_seconds": 9, "output_bytes": 9, "cpus": 1, "memory_mb": 512}}
	invalid(boundless)
	boundless.denials[0].match == "pids"
	host := usually(on_host(ls("cli")))
	host.outcome == "allow"
}

test_limit_that_is_none_is_named if {
	answer := by({"platforms": {"telegram": {"limits": {"idle_seconds": 0, "pids": 9}}}}, git_status)
	invalid(answer)
	answer.denials[0].match == `{"idle_seconds":0,"pids":9}`
	answer.denials[0].message == "The limit idle_seconds is 0, which is no number above zero."
	count(answer.denials) == 1
}

test_misspelt_limit_is_named if {
	answer := by({"platforms": {"telegram": {"limits": {"idle_secnds": 60}}}}, git_status)
	invalid(answer)
	answer.denials[0].message == "There is no limit called idle_secnds."
}
