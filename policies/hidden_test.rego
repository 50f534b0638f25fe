package bailiff_test

# What is found in texts that do not tell what would run.
_unclear(calls) := _unclear_with(calls, {})

_unclear_with(calls, facts) := _told_of(found) if {
	found := union({
		data.bailiff._examined.interprets,
		data.bailiff._examined.evaluates,
		data.bailiff._examined.tracing,
		data.bailiff._found_in_text,
	}) with input as _text_with(calls, facts)
}

_hidden if {
	some finding in (data.bailiff._found_in_text | data.bailiff._examined.interprets)
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
	_unclear_with([call("ls", [], [])], {"complete": false}).told == {"command.hides_meaning: "}
	_unclear_with([call("ls", [], [])], {"parsed": false}).told == {"command.hides_meaning: "}
	_unclear([call("ls", [], [])]).told == set()
	_unclear([call("{echo,rm}", [], [])]).told == {"command.hides_meaning: "}
	_unclear([call("{name}", [], [])]).told == set()
	_unclear([call("test", ["-v"], ["a[$(id)]"])]).told == {"command.hides_meaning: "}
	_unclear([call("test", ["-v"], ["a[1]"])]).told == set()
	_unclear_with([], {"assigns": ["PS4"], "text": "PS4='$(id)' bash -x a.sh"}).told == {"command.hides_meaning: "}
	_unclear_with([], {"assigns": ["PS4"], "text": "PS4='+ ' bash -x a.sh"}).told == set()
}
