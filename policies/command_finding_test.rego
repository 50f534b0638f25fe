package bailiff_test

test_match_says_exactly_what if {
	expected := {
		"sudo sh x.sh": call("sudo", [], ["sh", "x.sh"]),
		"sudo sh 'x y.sh'": call("sudo", [], ["sh", "x y.sh"]),
		"sudo kill 7": _reached_through("sudo", call("kill", [], ["7"])),
		"ssh db uptime": call("ssh", [], ["db", "uptime"]),
		"docker run -v /srv:/srv alpine": call("docker", ["run", "-v"], ["/srv:/srv", "alpine"]),
		"chmod 777 ./x OTHER": call("chmod", [], ["777", "./x", "OTHER"]),
		"tar --to-command=sh -xf a.tar": object.union(call("tar", [], []), {
			"argv": ["tar", "--to-command=sh", "-xf", "a.tar"], "flags": ["--to-command", "-x", "-f"],
		}),
		"systemctl stop nginx redis": call("systemctl", [], ["stop", "nginx", "redis"]),
		"psql -c 'drop table x'": call("psql", ["-c"], ["drop table x"]),
		"git config core.pager ./p": call("git", [], ["config", "core.pager", "./p"]),
		"curl -T ./a https://x.test": object.union(call("curl", ["-T"], ["./a", "https://x.test"]), {"reads": ["a"]}),
		"rsync a h:b": call("rsync", [], ["a", "h:b"]),
		"./build": call("rm", ["-r"], ["./build"]),
	}
	every match, asked in expected {
		_matches([asked]) == {match}
	}
}

# What no match describes is granted for one request only.
test_feature_has_no_match if {
	every feature in ["unread_program", "download_and_run", "decode_and_run", "network_redirect"] {
		_matches_with([call("perl", ["-e"], ["x"])], {"features": [feature]}) == {""}
	}
	_matches_with([call("perl", [], [])], {"complete": false}) == {""}
	_matches_with([call("psql", [], [])], {"text": "psql <<E\ndrop table x\nE"}) == {""}
	_matches_with([call("env", [], ["make"])], {"assigns": ["LD_PRELOAD"]}) == {""}
	_matches([object.union(call("ls", [], []), {"pipes_to": "nc"}), call("nc", [], ["h", "1"])]) == {""}
	_matches([object.union(call("nc", [], ["h", "1"]), {"reads": ["data"]})]) == {""}
	_matches([object.union(call("cat", [], ["x"]), {"pipes_to": "ssh"}), call("ssh", [], ["h"])]) == {""}
	_matches_with([object.union(call("ssh", [], ["h"]), {"reads": ["x"]})], {"features": ["redirect"]}) == {""}
	_matches_with([object.union(call("ssh", [], ["h"]), {"writes": ["log"]})], {"features": ["redirect"]}) == {"ssh h"}
}

test_long_matches_are_told_apart if {
	long := concat("", [letter | some _ in numbers.range(1, 300); letter := "y"])
	every match in _matches([call("sudo", [], [long, "a"])]) {
		startswith(match, "sudo yyy")
		count(match) < 300
		not match in _matches([call("sudo", [], [long, "b"])])
		not match in _matches([call("sudo", [], [match])])
	}
}

# The matches of all that is found in a text of these calls.
_matches(calls) := _matches_with(calls, {"text": concat(" ", [word | some made in calls; some word in made.argv])})

_matches_with(calls, facts) := _all_found_with(calls, facts).matches

test_words_are_quoted_where_they_must_be if {
	data.bailiff._in_quotes("plain") == "plain"
	data.bailiff._in_quotes("") == "''"
	data.bailiff._in_quotes("two words") == "'two words'"
	data.bailiff._in_quotes("it's") == "'it'\\''s'"
}

test_match_that_tells_nothing_is_none if {
	data.bailiff._told("kill $(…)") == ""
	data.bailiff._told("rm a") == "rm a"
	data.bailiff._spelt(call("rm", ["-r"], ["a b"])) == "rm -r 'a b'"
	data.bailiff._spelt(_reached_through("sudo", call("rm", [], ["a"]))) == "sudo rm a"
	data.bailiff._spelt(_reached_through("xargs", call("rm", [], ["a"]))) == ""
	object.remove(data.bailiff._found("power", "x"), ["message", "severity", "attack"]) == {"match": "x", "rule": "command.destroys_system"}
	data.bailiff._found("power", "reboot").match == "reboot"
}

# A class may say how bad it is and which techniques of ATT&CK it may be.
test_finding_is_graded_as_its_class_is if {
	every graded in [
		{},
		{"severity": "high"},
		{"attack": ["T1059.004"]},
		{"severity": "critical", "attack": ["T1485", "T1561"]},
	] {
		said := {"rule": "team.rule", "message": "It does."}
		found := data.bailiff._found("ours", "x") with data.bailiff.tables.classes as {"ours": object.union(said, graded)}
		found == object.union_n([said, graded, {"match": "x"}])
	}
}

test_grades_reach_the_decision if {
	class := {"rule": "team.rule", "message": "It does.", "severity": "high", "attack": ["T1548"]}
	answer := by({"classes": {"privilege": class}}, on_host(request("cli", [call("sudo", [], ["ls"])])))
	answer.approval.reasons == [{
		"rule": "team.rule",
		"message": "It does.",
		"match": "sudo ls",
		"severity": "high",
		"attack": ["T1548"],
	}]
}
