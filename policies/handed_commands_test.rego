package bailiff_test

_hands_on(calls) := "command.runs_inline_program" in _told_of(found).rules if {
	found := {finding |
		"speaking" in data.bailiff._aspects
		some finding in data.bailiff._examined.speaking
	} with input as request("cli", calls)
}

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
