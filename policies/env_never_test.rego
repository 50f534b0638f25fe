package bailiff_test

test_unknown_name_stays_out if {
	_withheld(wanting(_git_push, ["AWS_SECRET_ACCESS_KEY"])) == {"AWS_SECRET_ACCESS_KEY": "env.not_in_table"}
}

test_name_without_a_value_stays_out if {
	missing := object.union(_git_push, {"env": {"requested": ["GITHUB_TOKEN"], "available": []}})
	_withheld(missing) == {"GITHUB_TOKEN": "env.unavailable"}
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
	answer := by({"env": everything}, wanting(_git_push, [name | some name, _ in expected]))
	answer.env.forward == []
	{entry.name: entry.rule | some entry in answer.env.withheld} == expected
}

test_names_that_never_enter_say_why if {
	{name: data.bailiff._never_forwarded(name) |
		some name in ["LD_PRELOAD", "PATH", "BASH_ENV", "OPENAI_API_KEY", "BAILIFF_TOKEN", "TZ"]
	} == {
		"BAILIFF_TOKEN": "env.provider_key",
		"BASH_ENV": "env.loader",
		"LD_PRELOAD": "env.loader",
		"OPENAI_API_KEY": "env.provider_key",
		"PATH": "env.loader",
	}
	data.bailiff._prefix_rules("LD_ANYTHING") == {"env.loader"}
	data.bailiff._prefix_rules("dyld_x") == {"env.loader"}
	data.bailiff._prefix_rules("TZ") == set()
	_withheld(wanting(_git_push, ["LD_PRELOAD", "NOPE"])) == {"LD_PRELOAD": "env.loader", "NOPE": "env.not_in_table"}
	_withheld(object.union(_git_push, {"env": {"requested": ["NOPE"], "available": []}})) == {"NOPE": "env.unavailable"}
}
