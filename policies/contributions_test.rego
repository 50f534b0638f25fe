package bailiff_test

_invalid(reasons) if _rules_of(reasons) == {"policy.invalid"}

test_malformed_contributions_deny if {
	limit := _faults_of(_git_status) with data.bailiff.limits as {{"timeout_seconds": "60", "output_bytes": 9}}
	_invalid(limit)
	negative := _faults_of(_git_status) with data.bailiff.limits as {{"timeout_seconds": -1, "output_bytes": 9}}
	_invalid(negative)
	name := _faults_of(_git_status) with data.bailiff.withhold_env as {"GITHUB_TOKEN"}
	_invalid(name)
	terms := usually(_git_status) with data.bailiff.require_approval as {{"rule": "a.b", "message": "x", "quorum": "two"}}
	_invalid(terms.denials)
	faulty := usually(_git_status) with data.bailiff._faults as {{"rule": "policy.invalid", "message": "x"}}
	_invalid(faulty.denials)
}

test_sandbox_without_limits_denies if {
	boundless := _faults_of(_git_status) with data.bailiff.limits as {{
		"timeout_seconds": 9,
		"output_bytes": 9,
		"cpus": 1,
		"memory_mb": 512,
	}}
	_invalid(boundless)
	boundless[0].match == "pids"
	_faults_of(on_host(_ls("cli"))) == []
}

test_limit_that_is_none_is_named if {
	faults := _faults_by({"platforms": {"telegram": {"limits": {"idle_seconds": 0, "pids": 9}}}}, _git_status)
	_invalid(faults)
	faults[0].match == `{"idle_seconds":0,"pids":9}`
	faults[0].message == "The limit idle_seconds is 0, which is no number above zero."
	count(faults) == 1
}

test_misspelt_limit_is_named if {
	faults := _faults_by({"platforms": {"telegram": {"limits": {"idle_secnds": 60}}}}, _git_status)
	_invalid(faults)
	faults[0].message == "There is no limit called idle_secnds."
}

test_malformed_contributions_are_shown_as_they_are if {
	_faults_of(_git_status) == [
		{"match": "{\"name\":\"X\"}", "message": "A policy adds to withhold_env what is none of it.", "rule": "policy.invalid"},
	] with data.bailiff.withhold_env as {{"name": "X"}}
	_faults_of(_git_status) == [
		{"match": "\"X\"", "message": "A policy adds to withhold_env what is none of it.", "rule": "policy.invalid"},
	] with data.bailiff.withhold_env as {"X"}
	usually(_git_status).denials == [
		{
			"match": "{\"message\":\"A.\",\"quorum\":0,\"rule\":\"a.b\"}",
			"message": "A policy adds to require_approval what is none of it.",
			"rule": "policy.invalid",
		},
	] with data.bailiff.require_approval as {{"rule": "a.b", "message": "A.", "quorum": 0}}
	usually(_git_status).denials == [
		{
			"match": "{\"message\":\"A.\",\"rule\":\"a.b\",\"timeout_seconds\":\"60\"}",
			"message": "A policy adds to require_approval what is none of it.",
			"rule": "policy.invalid",
		},
	] with data.bailiff.require_approval as {{"rule": "a.b", "message": "A.", "timeout_seconds": "60"}}
	usually(_git_status).outcome == "ask"
		with data.bailiff.require_approval as {{"rule": "a.b", "message": "A.", "quorum": 1}}
	[value | some value in [1, 0.5, 0, -1, "1", null]; data.bailiff._positive(value)] == [1, 0.5]
}
