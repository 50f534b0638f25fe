package bailiff_test

test_limit_that_bounds_nothing_is_named if {
	_faults_of(_git_status) == [
		{
			"match": "cpus",
			"message": "Nothing limits what the sandbox may use: the tables set no limit of this kind.",
			"rule": "policy.invalid",
		},
		{"match": "{\"cpus\":0}", "message": "The limit cpus is 0, which is no number above zero.", "rule": "policy.invalid"},
	] with data.bailiff.limits as {_bounded, {"cpus": 0}}
	_faults_of(_git_status) == [
		{"match": "{\"cpus\":\"2\"}", "message": "The limit cpus is \"2\", which is no number above zero.", "rule": "policy.invalid"},
	] with data.bailiff.limits as {_bounded, {"cpus": "2"}}
	_faults_of(_git_status) == [
		{"match": "{\"timeout\":60}", "message": "There is no limit called timeout.", "rule": "policy.invalid"},
	] with data.bailiff.limits as {_bounded, {"timeout": 60}}
	_faults_of(_git_status) == [
		{"match": "\"cpus\"", "message": "A policy adds to limits what is none of it.", "rule": "policy.invalid"},
	] with data.bailiff.limits as {_bounded, "cpus"}
	_faults_of(_git_status) == [
		{
			"match": "pids",
			"message": "Nothing limits what the sandbox may use: the tables set no limit of this kind.",
			"rule": "policy.invalid",
		},
	] with data.bailiff.limits as {object.remove(_bounded, ["pids"])}
	_faults_of(on_host(request("cli", []))) == []
		with data.bailiff.limits as {object.remove(_bounded, ["pids"])}
	_faults_of(_git_status) == [] with data.bailiff.limits as {_bounded, {"cpus": 0.5}}
	[at |
		some at, values in [{1, 2}, {0, 1}, {"1", 2}, {0.5}]
		data.bailiff._all_positive(values)
	] == [0, 3]
}

_bounded := {"timeout_seconds": 60, "output_bytes": 1000, "idle_seconds": 60, "cpus": 1, "memory_mb": 512, "pids": 64}
