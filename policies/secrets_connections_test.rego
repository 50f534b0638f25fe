package bailiff_test

test_piped_output_is_a_question_unless_the_text_says_it if {
	_going([object.union(call("cat", [], []), {"pipes_to": "curl"}), call("curl", [], [])], "x.test") == {"command.sends_files"}
	_going([object.union(call("echo", [], []), {"pipes_to": "curl"}), call("curl", [], [])], "x.test") == set()
}

test_input_of_a_connection_is_found if {
	_told([object.union(call("nc", [], ["h", "1"]), {"reads": ["data"]})]) == {"command.sends_files: "}
	_told([call("nc", [], ["h", "1"])]) == set()
	_told([object.union(call("openssl", [], ["s_client", "h:1"]), {"reads": ["data"]})]) == {"command.sends_files: "}
	_told_with([object.union(call("cat", [], ["a"]), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["x.test"]}) == {
		"command.sends_files: ",
	}
	_told_with([object.union(call("echo", [], ["a"]), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["x.test"]}) == set()
	_told_with([object.union(call("cat", [], ["a"]), {"pipes_to": "curl"}), call("curl", [], [])], {"hosts": ["localhost"]}) == set()
	_told_with([object.union(call("curl", [], ["https://x.test/$(cat a)"]), {"reads": ["a"]})], {"hosts": ["x.test"]}) == {
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
	_found([object.union(reading("socat", "notes.txt"), {"operands": ["FILE:notes.txt", "-"]})]) == set()
	_found([object.union(reading("socat", "notes.txt"), {"operands": ["FILE:notes.txt", "TCP:h.test:1"]})]) == {"command.sends_files"}
}
