package bailiff_test

git_push := request("telegram", [call("git", [], ["push"])])

env_of(asked) := answer.env if answer := usually(asked)

withheld(asked) := {entry.name: entry.rule | some entry in env_of(asked).withheld}

test_token_goes_to_git if {
	env_of(wanting(git_push, ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]
}

test_nothing_enters_unasked if {
	env_of(git_push).forward == []
}

test_token_goes_to_git_after_cd if {
	calls := [call("cd", [], ["src"]), call("git", [], ["push"])]
	env_of(wanting(request("telegram", calls), ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]
}

test_token_stays_out_of_other_programs if {
	every beside in ["curl", "sh", "python3", "make", "tee", "alias", "export"] {
		calls := [call("git", [], ["push"]), call(beside, [], ["x"])]
		withheld(wanting(request("telegram", calls), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
	}
}

test_token_needs_one_of_its_programs if {
	withheld(wanting(request("telegram", [call("echo", [], ["x"])]), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_is_not_for_a_program_of_that_name_elsewhere if {
	planted := object.union(call("git", [], ["push"]), {"argv": ["./git", "push"]})
	withheld(wanting(request("telegram", [planted]), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_is_for_git_by_its_full_path if {
	spelt := object.union(call("git", [], ["push"]), {"argv": ["/usr/bin/git", "push"]})
	env_of(wanting(request("telegram", [spelt]), ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]
}

test_token_stays_out_when_the_path_is_changed if {
	led := object.union(call("git", [], ["push"]), {"assigns": ["PATH"]})
	withheld(wanting(request("telegram", [led]), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_when_the_text_expands_it if {
	expanded := object.union(git_push, {"command": {"variables": ["GITHUB_TOKEN"]}})
	withheld(wanting(expanded, ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_of_hidden_texts if {
	hidden := object.union(git_push, {"command": {"complete": false}})
	withheld(wanting(hidden, ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_when_functions_are_defined if {
	shadowed := object.union(git_push, {"command": {"features": ["function"]}})
	withheld(wanting(shadowed, ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.program"}
}

test_token_stays_out_of_code if {
	withheld(wanting(program("telegram", {}), ["GITHUB_TOKEN"])) == {"GITHUB_TOKEN": "env.tool"}
}

test_platform_narrows if {
	withheld(wanting(git_push, ["GITLAB_TOKEN"])) == {"GITLAB_TOKEN": "env.platform"}
}

test_unknown_name_stays_out if {
	withheld(wanting(git_push, ["AWS_SECRET_ACCESS_KEY"])) == {"AWS_SECRET_ACCESS_KEY": "env.not_in_table"}
}

test_name_without_a_value_stays_out if {
	missing := object.union(git_push, {"env": {"requested": ["GITHUB_TOKEN"], "available": []}})
	withheld(missing) == {"GITHUB_TOKEN": "env.unavailable"}
}

test_loaders_and_provider_keys_never_enter if {
	expected := {
		"PATH": "env.loader", "LD_PRELOAD": "env.loader", "DYLD_INSERT_LIBRARIES": "env.loader", "BASH_ENV": "env.loader",
		"ENV": "env.loader", "PYTHONPATH": "env.loader", "NODE_OPTIONS": "env.loader", "GIT_SSH_COMMAND": "env.loader",
		"ld_preload": "env.loader", "OPENAI_API_KEY": "env.provider_key", "ANTHROPIC_API_KEY": "env.provider_key",
		"OPENROUTER_API_KEY": "env.provider_key", "TELEGRAM_BOT_TOKEN": "env.provider_key", "HERMES_TOKEN": "env.provider_key",
		"BAILIFF_TOKEN": "env.provider_key",
	}
	everything := {name: [{"platforms": ["*"]}] | some name, _ in expected}
	answer := by({"env": everything}, wanting(git_push, [name | some name, _ in expected]))
	answer.env.forward == []
	{entry.name: entry.rule | some entry in answer.env.withheld} == expected
}

test_sealed_is_said if {
	npm := request("cli", [call("npm", [], ["publish"])])
	answer := env_of(wanting(npm, ["NPM_TOKEN"]))
	answer.forward == ["NPM_TOKEN"]
	answer.sealed == ["NPM_TOKEN"]
}

test_withholding_beats_forwarding if {
	answer := usually(wanting(git_push, ["GITHUB_TOKEN"]))
		with data.bailiff.withhold_env as {{"name": "GITHUB_TOKEN", "rule": "team.frozen"}}
	answer.env.forward == []
	answer.env.withheld == [{"name": "GITHUB_TOKEN", "rule": "team.frozen"}]
}

test_entry_for_code_must_name_the_tool if {
	entry := {"CI": [{"platforms": ["*"], "tools": ["execute_code"], "programs": ["python3"]}]}
	answer := by({"env": entry}, wanting(program("telegram", {}), ["CI"]))
	answer.env.forward == ["CI"]
	hidden := by({"env": entry}, wanting(program("telegram", {"complete": false}), ["CI"]))
	hidden.env.forward == []
}

test_entry_narrows_by_backend if {
	entry := {"CI": [{"platforms": ["*"], "backends": ["bubblewrap"]}]}
	answer := by({"env": entry}, wanting(git_push, ["CI"]))
	answer.env.withheld == [{"name": "CI", "rule": "env.backend"}]
}

gets_token(asked) if env_of(wanting(asked, ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]

test_token_goes_to_no_program_that_git_is_told_to_start if {
	every words in [
		["-c", "core.pager=./x", "log"], ["-c", "credential.helper=./x", "fetch"], ["--exec-path=./x", "status"],
		["clone", "-u", "./x", "y"], ["fetch", "--upload-pack=./x", "."], ["rebase", "--exec=./x", "HEAD~1"],
	] {
		not gets_token(request("telegram", [object.union(call("git", words, words), {"argv": array.concat(["git"], words)})]))
	}
}

test_token_is_for_known_subcommands if {
	not gets_token(request("telegram", [call("git", [], ["alias-of-somebody"])]))
	not gets_token(request("telegram", [call("gh", [], ["extension", "exec", "x"])]))
	not gets_token(request("telegram", [call("gh", [], ["auth", "token"])]))
	gets_token(request("telegram", [call("gh", [], ["pr", "list"])]))
}

test_token_stays_out_where_the_environment_is_shown if {
	not gets_token(request("telegram", [call("git", [], ["push"]), call("env", [], [])]))
	not gets_token(request("telegram", [call("git", [], ["push"]), call("set", [], [])]))
	not gets_token(request("telegram", [call("git", [], ["push"]), call("head", [], ["/proc/self/environ"])]))
}

test_token_stays_out_where_the_text_leads_programs_astray if {
	every name in ["PATH", "HOME", "PS4"] {
		not gets_token(object.union(git_push, {"command": {"assigns": [name]}}))
	}
}
