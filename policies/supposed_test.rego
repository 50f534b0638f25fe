package bailiff_test

_supposing(argv, calls) := object.union(
	on_host(request("cli", [call(argv[0], [], array.slice(argv, 1, count(argv)))])),
	{"command": {"supposed": _text([object.union(started, {"wrappers": [argv[0]]}) | some started in calls])}},
)

test_words_that_would_destroy_are_asked_about_and_not_denied if {
	removal := object.union(call("rm", ["-r", "-f"], ["~"]), {"writes": ["~"]})
	answer := usually(_supposing(["unheard-of", "rm", "-rf", "~"], [removal]))
	answer.outcome == "ask"
	some reason in answer.approval.reasons
	reason.rule == "command.destroys_system"
	endswith(reason.message, "That holds if unheard-of starts rm: no table says what unheard-of does with its words.")
}

test_harmless_words_ask_nothing if {
	_questions(_supposing(["unheard-of", "cat", "x"], [reading("cat", "x")])) == []
}

test_name_alone_tells_little if {
	_questions(_supposing(["unheard-of", "mount", "x"], [call("mount", [], ["x"])])) == []
	_questions(_supposing(["unheard-of", "--", "mount", "x"], [call("mount", [], ["x"])])) != []
	_questions(_supposing(["unheard-of", "sudo", "x"], [call("sudo", [], ["x"])])) != []
	_questions(_supposing(["unheard-of", "kill", "7"], [call("kill", [], ["7"])])) == []
}

test_verdict_of_the_table_counts if {
	reads := _supposing(["unheard-of", "cat", "~/.netrc"], [reading("cat", "~/.netrc")])
	_questions(reads) != []
	_questions_by({"verdicts": {"command.reads_credentials": {"host": "allow"}}}, reads) == []
}
