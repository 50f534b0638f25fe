package bailiff_test

sudo := on_host(request("cli", [call("sudo", [], ["ls"])]))

asking(more) := {{"rule": "team.rule", "message": "The team wants to know."} | more}

test_nobody_is_asked_in_a_sandbox if {
	answer := usually(request("telegram", [call("sudo", [], ["ls"])]))
	answer.outcome == "allow"
}

test_unattended_session_cannot_be_asked if {
	answer := usually(unattended(sudo))
	answer.outcome == "deny"
	rules(answer) == {"approval.unattended"}
}

test_unattended_session_does_ordinary_work if {
	answer := usually(unattended(on_host(request("cli", [call("ls", [], [])]))))
	answer.outcome == "allow"
}

test_strictest_terms_hold if {
	answer := usually(sudo) with data.bailiff.require_approval as {
		{"rule": "a.one", "message": "One.", "timeout_seconds": 60, "quorum": 2},
		{"rule": "b.two", "message": "Two.", "grant_seconds": 30, "scopes": ["once", "always"]},
	}
	answer.approval.timeout_seconds == 60
	answer.approval.grant_seconds == 30
	answer.approval.quorum == 2
	answer.approval.scopes == ["once"]
	rules(answer) == {"a.one", "b.two"}
}

test_always_is_offered_only_by_the_table if {
	answer := by({"approval": {"terms": {"scopes": ["once", "session", "always"]}}}, sudo)
	answer.approval.scopes == ["once", "session", "always"]
}

test_code_is_approved_once_only if {
	answer := usually(on_host(program("cli", {"complete": false})))
	answer.outcome == "ask"
	answer.approval.scopes == ["once"]
}

test_match_says_exactly_what if {
	expected := {
		"sudo sh x.sh": call("sudo", [], ["sh", "x.sh"]),
		"sudo sh 'x y.sh'": call("sudo", [], ["sh", "x y.sh"]),
		"sudo kill 7": reached_through("sudo", call("kill", [], ["7"])),
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
		matches([asked]) == {match}
	}
}

# What no match describes is granted for one request only.
test_feature_has_no_match if {
	every feature in ["inline_program", "download_and_run", "decode_and_run", "network_redirect"] {
		matches_with([call("perl", ["-e"], ["x"])], {"features": [feature]}) == {""}
	}
	matches_with([call("perl", [], [])], {"complete": false}) == {""}
	matches_with([call("psql", [], [])], {"text": "psql <<E\ndrop table x\nE"}) == {""}
	matches_with([call("env", [], ["make"])], {"assigns": ["LD_PRELOAD"]}) == {""}
	matches([object.union(call("ls", [], []), {"pipes_to": "nc"}), call("nc", [], ["h", "1"])]) == {""}
	matches([object.union(call("nc", [], ["h", "1"]), {"reads": ["data"]})]) == {""}
	matches([object.union(call("cat", [], ["x"]), {"pipes_to": "ssh"}), call("ssh", [], ["h"])]) == {""}
	matches_with([object.union(call("ssh", [], ["h"]), {"reads": ["x"]})], {"features": ["redirect"]}) == {""}
	matches_with([object.union(call("ssh", [], ["h"]), {"writes": ["log"]})], {"features": ["redirect"]}) == {"ssh h"}
}

test_names_from_elsewhere_have_no_match if {
	every asked in [
		reached_through("xargs", call("rm", ["-r"], ["./*"])),
		reached_through("find", call("rm", ["-r"], ["./*"])),
		reached_through("xargs", call("rimraf", [], [])),
		reached_through("parallel", call("sudo", [], ["sh"])),
		call("kill", [], ["$(…)"]), call("rm", ["-r"], ["$BUILD"]), call("sudo", [], ["sh", "<(…)"]),
	] {
		matches([asked]) == {""}
	}
}

test_long_matches_are_told_apart if {
	long := concat("", [letter | some _ in numbers.range(1, 300); letter := "y"])
	every match in matches([call("sudo", [], [long, "a"])]) {
		startswith(match, "sudo yyy")
		count(match) < 300
		not match in matches([call("sudo", [], [long, "b"])])
		not match in matches([call("sudo", [], [match])])
	}
}

reached_through(wrapper, inner) := object.union(inner, {"wrappers": [wrapper]})

# What is said to be asked about in a text of these calls.
matches(calls) := matches_with(calls, {"text": concat(" ", [word | some made in calls; some word in made.argv])})

matches_with(calls, facts) := {reason.match | some reason in answer.approval.reasons} if {
	answer := usually(object.union(on_host(request("cli", calls)), {"command": facts}))
}
