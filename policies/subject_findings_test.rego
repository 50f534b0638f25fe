package bailiff_test

test_aspects_are_what_there_is_to_look_at if {
	data.bailiff._aspects == set() with input as request("telegram", [])
		with data.bailiff.tables.platforms as _usual_tables.platforms
	data.bailiff._aspects == {"calls", "unpacks", "versions"} with input as request("telegram", [call("git", [], [])])
		with data.bailiff.tables.platforms as _usual_tables.platforms
	data.bailiff._aspects == {"calls", "packs_if_told", "paths"} with input as request("telegram", [reading("grep", "a")])
		with data.bailiff.tables.platforms as _usual_tables.platforms
	data.bailiff._aspects == {
		"hosts",
		"losses",
		"settings",
	}
		with input as object.union(request("telegram", []), {"command": {"hosts": ["x.test"], "settings": ["A=b"], "loses": ["a"]}})
		with data.bailiff.tables.platforms as _usual_tables.platforms
	data.bailiff._aspects == {"mounts"} with input as request("telegram", [])
		with data.bailiff.tables.platforms.telegram as {"mounts": {}}
	data.bailiff._aspects == {"program"} with input as program("telegram", {})
		with data.bailiff.tables.platforms as _usual_tables.platforms
	{kind: count(group) | some kind, group in data.bailiff._calls_of} == {
		"deletes": 2,
		"saves": 1,
		"sends": 1,
		"uploads": 1,
	} with input as request("cli", [call("rm", [], ["a"]), call("rm", [], ["b"]), call("curl", [], [])])
}

test_findings_are_those_of_the_aspects_that_are_there if {
	_all_found([call("rm", ["-r"], ["a"]), call("sudo", [], ["id"])]) == _told_of(_findings_in([call("rm", ["-r"], ["a"]), call("sudo", [], ["id"])]))
	_told_of(_findings_in([call("rm", ["-r"], ["a"]), call("sudo", [], ["id"])])).told == {
		"command.deletes_recursively: a",
		"command.gains_privilege: sudo id",
	}
	_findings_in([]) == set()
}

_findings_in(calls) := findings if findings := data.bailiff.findings with input as request("cli", calls)
