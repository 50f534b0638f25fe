package bailiff_test

# What is found of servers and of shells that are joined to the network.
_joined(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.python,
		data.bailiff._examined.tunnels,
		data.bailiff._examined.relays,
		data.bailiff._examined.connects,
		data.bailiff._examined.calls,
	}) with input as request("cli", calls)
}

test_shells_are_not_joined_to_the_network if {
	"command.opens_reverse_shell" in _joined([object.union(call("nc", [], ["x.test", "1"]), {"pipes_to": "sh"})]).rules
	"command.opens_reverse_shell" in _joined([object.union(call("sh", [], []), {"pipes_to": "openssl"}), call("openssl", [], [])]).rules
	"command.opens_reverse_shell" in _joined([call("nc", ["-e"], ["x.test", "1"])]).rules
	_joined([call("nc", ["-z"], ["localhost", "1"])]).rules == set()
}

test_servers_and_shells_are_found if {
	_joined([call("python3", ["-m"], ["http.server"])]).told == {"command.sends_files: python3 -m http.server"}
	_joined([call("python3", ["-m"], ["http.server", "--bind", "127.0.0.1"])]).told == set()
	_joined([call("python3", ["-m"], ["pyftpdlib", "-p", "21"])]).told == {"command.sends_files: python3 -m pyftpdlib -p 21"}
	_joined([call("python3", ["-m"], ["uploadserver"])]).told == {"command.sends_files: python3 -m uploadserver"}
	_joined([call("python3", ["-m"], ["pytest"])]).told == set()
	_joined([object.union(call("nc", [], ["h", "1"]), {"pipes_to": "sh"})]).told == {"command.opens_reverse_shell: "}
	_joined([object.union(call("sh", [], []), {"pipes_to": "openssl"}), call("openssl", [], [])]).told == {
		"command.opens_reverse_shell: ",
	}
	_joined([call("socat", [], ["exec:sh", "tcp:h:1"])]).told == {"command.opens_reverse_shell: socat exec:sh tcp:h:1"}
	_joined([call("socat", [], ["tcp-listen:80", "tcp:h:80"])]).told == set()
	[options |
		some options in [["--bind", "localhost"], ["-b", "0.0.0.0"], ["--bind=::1"], []]
		data.bailiff._local_only(call("python3", options, []))
	] == [
		["--bind", "localhost"],
		["--bind=::1"],
	]
}
