package bailiff_test

test_token_stays_out_of_other_programs if {
	every beside in ["curl", "sh", "python3", "make", "tee", "alias", "export"] {
		calls := [call("git", [], ["push"]), call(beside, [], ["x"])]
		_withheld(wanting(request("telegram", calls), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
	}
}

test_token_needs_one_of_its_programs if {
	_withheld(wanting(request("telegram", [call("echo", [], ["x"])]), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_is_not_for_a_program_of_that_name_elsewhere if {
	planted := object.union(call("git", [], ["push"]), {"argv": ["./git", "push"]})
	_withheld(wanting(request("telegram", [planted]), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_is_for_git_by_its_full_path if {
	spelt := object.union(call("git", [], ["push"]), {"argv": ["/usr/bin/git", "push"]})
	_env_of(wanting(request("telegram", [spelt]), ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]
}

test_token_stays_out_when_the_text_expands_it if {
	expanded := object.union(_git_push, {"command": {"variables": ["GITHUB_TOKEN"]}})
	_withheld(wanting(expanded, ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_of_hidden_texts if {
	hidden := object.union(_git_push, {"command": {"complete": false}})
	_withheld(wanting(hidden, ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_when_functions_are_defined if {
	shadowed := object.union(_git_push, {"command": {"features": ["function"]}})
	_withheld(wanting(shadowed, ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_of_code if {
	_withheld(wanting(program("telegram", {}), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.tool"}
}

_gets_token(asked) if _env_of(wanting(asked, ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]

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

_forwarded_to_code(entry) := by({"env": {"TZ": [entry]}}, wanting(program("cli", {}), ["TZ"])).env.forward
