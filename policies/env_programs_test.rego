package bailiff_test

test_token_stays_out_of_other_programs if {
	every beside in ["curl", "sh", "python3", "make", "tee", "alias", "export"] {
		calls := [call("git", [], ["push"]), call(beside, [], ["x"])]
		not _gets_token(request("telegram", calls))
	}
}

test_token_needs_one_of_its_programs if {
	not _gets_token(request("telegram", [call("echo", [], ["x"])]))
}

test_token_is_not_for_a_program_of_that_name_elsewhere if {
	planted := object.union(call("git", [], ["push"]), {"argv": ["./git", "push"]})
	not _gets_token(request("telegram", [planted]))
}

test_token_is_for_git_by_its_full_path if {
	spelt := object.union(call("git", [], ["push"]), {"argv": ["/usr/bin/git", "push"]})
	_gets_token(request("telegram", [spelt]))
}

test_token_stays_out_when_the_text_expands_it if {
	expanded := object.union(_git_push, {"command": {"variables": ["GITHUB_TOKEN"]}})
	not _gets_token(expanded)
}

test_token_stays_out_of_hidden_texts if {
	hidden := object.union(_git_push, {"command": {"complete": false}})
	not _gets_token(hidden)
}

test_token_stays_out_when_functions_are_defined if {
	shadowed := object.union(_git_push, {"command": {"features": ["function"]}})
	not _gets_token(shadowed)
}

test_token_stays_out_of_code if {
	_misfits_by(_usual_tables.env, wanting(program("telegram", {}), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.tool"}
}

# Whether the calls of a text are such that the token of its program enters.
_gets_token(asked) if {
	data.bailiff._calls_its_programs(_usual_tables.env.GITHUB_TOKEN[0], "GITHUB_TOKEN") with input as asked
}

test_programs_are_trusted_by_name_or_folder if {
	[spelling |
		some spelling in ["git", "/usr/bin/git", "/tmp/git", "./git"]
		data.bailiff._trusted_spelling(object.union(call("git", [], []), {"argv": [spelling]}))
	] == [
		"git",
		"/usr/bin/git",
	]
	[name |
		some name in ["git", "gh", "cd", "curl"]
		data.bailiff._accepted(call(name, [], ["status"]), {"programs": ["git"]})
	] == [
		"git",
		"cd",
	]
	data.bailiff._plain == true with input as _git_push
	[plain | plain := data.bailiff._plain] == []
		with input as object.union(_git_push, {"command": {"features": ["function"]}})
}

test_code_needs_an_entry_for_python if {
	_forwarded_to_code({"platforms": ["*"], "tools": ["execute_code"], "programs": ["python3"]}) == ["TZ"]
	_forwarded_to_code({"platforms": ["*"], "tools": ["execute_code"], "programs": ["git"]}) == []
	_forwarded_to_code({"platforms": ["*"], "programs": ["python3"]}) == []
}

_forwarded_to_code(entry) := _env_by({"TZ": [entry]}, wanting(program("cli", {}), ["TZ"])).forward
