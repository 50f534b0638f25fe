package bailiff_test

# What is found of what goes into connections.
_sent(calls) := _sent_with(calls, {})

_sent_with(calls, facts) := _told_of(found) if {
	found := union({
		data.bailiff._examined.connects,
		data.bailiff._examined.tunnels,
		data.bailiff._examined.sends,
		data.bailiff._examined.uploads,
	}) with input as _text_with(calls, facts)
}

test_piped_output_is_a_question_unless_the_text_says_it if {
	_sent_with(
		[object.union(call("cat", [], []), {"pipes_to": "curl"}), call("curl", [], [])],
		{"hosts": ["x.test"]},
	).rules == {"command.sends_files"}
	_sent_with([object.union(call("echo", [], []), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["x.test"]}).rules == set()
}

test_a_line_that_was_read_is_found_where_it_is_printed_into_a_connection if {
	printed := object.union(call("echo", [], ["$l"]), {"pipes_to": "nc"})
	_sent_with([call("read", ["-r"], ["l"]), printed, call("nc", [], ["h", "1"])], {"hosts": ["x.test"]}).rules == {"command.sends_files"}
	_sent_with([call("read", ["-r"], ["line"]), printed, call("nc", [], ["h", "1"])], {"hosts": ["x.test"]}).rules == set()
}

test_what_a_connection_shows_may_go_to_another_call_of_its_program if {
	client := object.union(call("openssl", [], ["s_client", "h:1"]), {"pipes_to": "openssl", "reads": ["/dev/null"]})
	shown := call("openssl", [], ["x509", "-noout"])
	_sent([client, shown]).told == set()
	_sent([object.union(shown, {"pipes_to": "openssl"}), client]).told == {"command.sends_files: "}
}

test_input_of_a_connection_is_found if {
	_sent([object.union(call("nc", [], ["h", "1"]), {"reads": ["data"]})]).told == {"command.sends_files: "}
	_sent([call("nc", [], ["h", "1"])]).told == set()
	_sent([object.union(call("openssl", [], ["s_client", "h:1"]), {"reads": ["data"]})]).told == {"command.sends_files: "}
	_sent_with([object.union(call("cat", [], ["a"]), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["x.test"]}).told == {
		"command.sends_files: ",
	}
	_sent_with([object.union(call("echo", [], ["a"]), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["x.test"]}).told == set()
	_sent_with([object.union(call("cat", [], ["a"]), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["localhost"]}).told == set()
	_sent_with([object.union(call("curl", [], ["https://x.test/$(cat a)"]), {"reads": ["a"]})], {"hosts": ["x.test"]}).told == {
		"command.sends_files: ",
	}
	[hosts |
		some hosts in [["localhost"], ["127.0.0.1", "::1"], ["localhost", "x.test"], []]
		data.bailiff._to_this_host with data.bailiff._hosts as {host | some host in hosts}
	] == [
		["localhost"],
		["127.0.0.1", "::1"],
	]
}

test_a_relay_to_what_is_shown_sends_nothing if {
	_sent([object.union(reading("socat", "notes.txt"), {"operands": ["FILE:notes.txt", "-"]})]).rules == set()
	_sent([object.union(reading("socat", "notes.txt"), {"operands": ["FILE:notes.txt", "TCP:h.test:1"]})]).rules == {"command.sends_files"}
}
