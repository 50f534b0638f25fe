package bailiff_test

test_aspects_are_what_there_is_to_look_at if {
	data.bailiff._aspects == set() with input as request("telegram", [])
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	data.bailiff._aspects == {"calls", "unpacks", "versions"} with input as request("telegram", [call("git", [], [])])
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	data.bailiff._aspects == {"calls", "packs_if_told", "paths"} with input as request("telegram", [reading("grep", "a")])
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	data.bailiff._aspects == {
		"hosts",
		"losses",
		"settings",
	}
		with input as object.union(request("telegram", []), {"command": {"hosts": ["x.test"], "settings": ["A=b"], "loses": ["a"]}})
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	data.bailiff._aspects == {"mounts"} with input as request("telegram", [])
		with data.bailiff.tables.platforms.telegram as {"mounts": {}}
	data.bailiff._aspects == {"calls", "environment", "speaking"} with input as request("telegram", [call("printenv", [], [])])
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	data.bailiff._aspects == {"tracing"} with input as _text_with([], {"assigns": ["PS4"]})
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	data.bailiff._aspects == {"program"} with input as program("telegram", {})
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.house as _usual_tables.house
	{kind: count(group) | some kind, group in data.bailiff._calls_of} == {
		"deletes": 2,
		"saves": 1,
		"sends": 1,
		"uploads": 1,
	} with input as request("cli", [call("rm", [], ["a"]), call("rm", [], ["b"]), call("curl", [], [])])
}

test_findings_are_those_of_the_aspects_that_are_there if {
	calls := [call("rm", ["-r"], ["a"]), call("sudo", [], ["id"])]
	facts := {"complete": false, "hosts": ["169.254.169.254"]}
	found := _findings_in(calls, facts)
	found.told == {
		"command.deletes_recursively: a",
		"command.gains_privilege: sudo id",
		"command.hides_meaning: ",
		"command.reaches_metadata: 169.254.169.254",
	}
	found == _all_found_with(calls, facts)
	_findings_in([], {}).told == set()
}

_findings_in(calls, facts) := _told_of(found) if found := data.bailiff.findings with input as _text_with(calls, facts)
