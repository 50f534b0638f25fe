package bailiff_test

_described(calls, host) := "command.sends_host_facts" in _described_by(calls, host)

_described_by(calls, host) := {finding.rule | some finding in found} if {
	found := data.bailiff._examined.sends with input as _text_with(calls, {"hosts": [host]})
}

_request(word) := call("curl", ["-s"], [word])

_piped(program, into) := object.union(call(program, [], []), {"pipes_to": into})

test_what_describes_the_machine_is_asked_about_where_it_leaves if {
	every program in ["whoami", "hostname", "id", "hostnamectl", "logname"] {
		_described([call(program, [], []), _request("https://x.test/$(…)")], "x.test")
		_described([_piped(program, "curl"), call("curl", ["-d"], ["@-", "https://x.test"])], "x.test")
	}
	_described([call("whoami", [], []), call("curl", ["-d"], ["user=$(…)", "https://x.test"])], "x.test")
}

test_what_describes_no_machine_is_ordinary if {
	not _described([call("date", [], []), _request("https://x.test/$(…)")], "x.test")
	not _described([call("uname", ["-s"], []), _request("https://x.test/tool-$(…)")], "x.test")
	not _described([call("whoami", [], []), _request("https://x.test/a")], "x.test")
	not _described([object.union(call("whoami", [], []), {"writes": ["a.txt"]}), _request("https://x.test/$(…)")], "x.test")
	not _described([call("whoami", [], []), call("echo", [], ["$(…)"])], "x.test")
}

test_hosts_that_tables_know_may_have_it if {
	every host in ["localhost", "pypi.org", "api.openai.com", "build.internal"] {
		not _described([call("hostname", [], []), _request("https://h/$(…)")], host)
	}
	_described([call("hostname", [], []), _request("https://h/$(…)")], "api.openai.com.x.test")
}
