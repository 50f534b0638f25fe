package bailiff_test

test_unknown_name_stays_out if {
	_misfits_by(_usual_tables.env, wanting(_git_push, ["AWS_SECRET_ACCESS_KEY"])) == {"AWS_SECRET_ACCESS_KEY": "env.not_in_table"}
}

test_name_without_a_value_stays_out if {
	missing := object.union(_git_push, {"env": {"requested": ["GITHUB_TOKEN"], "available": []}})
	_kept_out_by(_usual_tables.env, missing) == {"GITHUB_TOKEN": "env.unavailable"}
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
	_kept_out_by(everything, wanting(_git_push, [name | some name, _ in expected])) == expected
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
	_kept_out_by({}, wanting(_git_push, ["LD_PRELOAD", "NOPE"])) == {"LD_PRELOAD": "env.loader"}
	_kept_out_by({}, object.union(_git_push, {"env": {"requested": ["NOPE"], "available": []}})) == {"NOPE": "env.unavailable"}
}

# The variables that always stay out, and why.
_kept_out_by(table, asked) := kept if {
	kept := data.bailiff._kept_out with input as asked
		with data.bailiff.tables.roles as {}
		with data.bailiff.tables.env as table
		with data.bailiff.tables.platforms as _usual_tables.platforms
		with data.bailiff.tables.network as _usual_tables.network
		with data.bailiff.tables.house as _usual_tables.house
}
