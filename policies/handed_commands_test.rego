package bailiff_test

_hands_on(calls) := "command.runs_inline_program" in _by_tables(calls).rules

test_commands_for_another_place_are_found if {
	every word in [
		`{"type": 1, "command": "type x"}`, `[{"cmd":["id"]}]`, "exe | tasklist /svc", "net user /domain && whoami",
	] {
		_hands_on([call("unheard-of", [], ["task", word])])
		_hands_on([call("python3", [], ["./send.py", word])])
	}
}

test_other_texts_are_no_commands if {
	every word in [`{"name": "a"}`, ".a | .b", "a & b", "salt | pepper", `{"query": "command"}`, "x || y"] {
		not _hands_on([call("unheard-of", [], ["task", word])])
	}
	not _hands_on([call("watch", [], ["ps ax | grep -v x"])])
}
