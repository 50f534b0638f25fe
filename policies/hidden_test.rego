package bailiff_test

_hidden if {
	some finding in data.bailiff.findings
	finding.rule == "command.hides_meaning"
}

test_hidden_meaning_is_found if {
	_hidden with input as object.union(request("cli", []), {"command": {"complete": false}})
	_hidden with input as object.union(request("cli", []), {"command": {"parsed": false}})
	_hidden with input as object.remove(request("cli", []), {"command"})
	not _hidden with input as request("cli", [])
}

test_standard_input_of_an_interpreter_hides_what_runs if {
	_hidden with input as _fed_with("sh")
	_hidden with input as _fed_with("xargs")
	not _hidden with input as _fed_with("cat")
}

_fed_with(name) := object.union(request("cli", [call(name, [], [])]), {"args": {"stdin": "rm -rf /"}})

test_texts_that_do_not_tell_are_found if {
	_told_with([call("ls", [], [])], {"complete": false}) == {"command.hides_meaning: "}
	_told_with([call("ls", [], [])], {"parsed": false}) == {"command.hides_meaning: "}
	_told([call("ls", [], [])]) == set()
	_told([call("{echo,rm}", [], [])]) == {"command.hides_meaning: "}
	_told([call("{name}", [], [])]) == set()
	_told([call("test", ["-v"], ["a[$(id)]"])]) == {"command.hides_meaning: "}
	_told([call("test", ["-v"], ["a[1]"])]) == set()
	_told_with([], {"assigns": ["PS4"], "text": "PS4='$(id)' bash -x a.sh"}) == {"command.hides_meaning: "}
	_told_with([], {"assigns": ["PS4"], "text": "PS4='+ ' bash -x a.sh"}) == set()
}
