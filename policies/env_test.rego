package bailiff_test

_git_push := request("telegram", [call("git", [], ["push"])])

_env_of(asked) := _env_by(_usual_tables.env, asked)

_env_by(table, asked) := _env_opened(_usual_tables.network, table, asked)

_env_opened(network, table, asked) := env if {
	env := data.bailiff._env with input as asked
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.env as table
		with data.bailiff.tables.network as network
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.chats as _usual_tables.chats
		with data.bailiff.tables.sandboxes as _usual_tables.sandboxes
		with data.bailiff.tables.house as _usual_tables.house
}

test_token_goes_to_git if {
	_env_of(wanting(_git_push, ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]
}

test_nothing_enters_unasked if {
	_env_of(_git_push).forward == []
}

test_token_goes_to_git_after_cd if {
	calls := [call("cd", [], ["src"]), call("git", [], ["push"])]
	_env_of(wanting(request("telegram", calls), ["GITHUB_TOKEN"])).forward == ["GITHUB_TOKEN"]
}

test_sealed_is_said if {
	npm := request("cli", [call("npm", [], ["publish"])])
	answer := _env_of(wanting(npm, ["NPM_TOKEN"]))
	answer.forward == ["NPM_TOKEN"]
	answer.sealed == ["NPM_TOKEN"]
}

test_withholding_beats_forwarding if {
	env := _env_of(wanting(_git_push, ["GITHUB_TOKEN"]))
		with data.bailiff.withhold_env as {{"name": "GITHUB_TOKEN", "rule": "team.frozen"}}
	env.forward == []
	env.withheld == [{"name": "GITHUB_TOKEN", "rule": "team.frozen"}]
}

test_environment_is_told_as_a_whole if {
	_env_of(wanting(_git_push, ["GITHUB_TOKEN"])) == {
		"forward": ["GITHUB_TOKEN"],
		"sealed": [],
		"set": {},
		"withheld": [],
	}
	_env_of(wanting(_git_push, ["GITHUB_TOKEN", "PATH", "UNKNOWN"])) == {
		"forward": ["GITHUB_TOKEN"],
		"sealed": [],
		"set": {},
		"withheld": [{"name": "PATH", "rule": "env.loader"}, {"name": "UNKNOWN", "rule": "env.not_in_table"}],
	}
	_env_by({"TZ": [{"platforms": ["*"]}]}, wanting(_git_push, ["TZ"])).forward == ["TZ"]
	_env_of(_git_push) == {"forward": [], "sealed": [], "set": {}, "withheld": []}
	_env_of(object.union(_git_push, {"env": {"requested": ["GITHUB_TOKEN"], "available": []}})) == {
		"forward": [],
		"sealed": [],
		"set": {},
		"withheld": [{"name": "GITHUB_TOKEN", "rule": "env.unavailable"}],
	}
	_env_of(wanting(request("cli", [call("npm", [], ["publish"])]), ["NPM_TOKEN"])) == {
		"forward": ["NPM_TOKEN"],
		"sealed": ["NPM_TOKEN"],
		"set": {},
		"withheld": [],
	}
}

_swap_of(entries) := _env_opened(opened, {"GITHUB_TOKEN": entries}, wanting(_git_push, ["GITHUB_TOKEN"])).swap if {
	opened := {"platforms": {"telegram": {"network": "egress", "egress": ["github"]}}}
}

_entry(terms) := {"platforms": ["telegram"], "programs": ["git"], "swap": object.union({"hosts": ["github.com"]}, terms)}

test_a_swapped_variable_names_its_hosts_and_places if {
	_swap_of([_entry({})]) == [{"name": "GITHUB_TOKEN", "hosts": ["github.com"], "in": ["authorization", "private-token", "x-api-key"]}]
	_swap_of([_entry({"in": ["query:key", "path"]})]) == [{"name": "GITHUB_TOKEN", "hosts": ["github.com"], "in": ["path", "query:key"]}]
}

test_what_a_swap_lets_pass_all_its_entries_must_let_pass if {
	swap := _swap_of([_entry({"stray": "pass", "alone": false})])[0]
	swap.stray_passes
	swap.not_alone
	every other in [{}, {"stray": "refuse", "alone": true}] {
		strict := _swap_of([_entry({"stray": "pass", "alone": false}), _entry(other)])[0]
		not strict.stray_passes
		not strict.not_alone
	}
}

test_a_swapped_variable_stays_out_without_a_way_out if {
	env := _env_by({"GITHUB_TOKEN": [_entry({})]}, wanting(_git_push, ["GITHUB_TOKEN"]))
	env.forward == []
	env.withheld == [{"name": "GITHUB_TOKEN", "rule": "env.no_egress"}]
}
