package bailiff_test

test_settings_that_start_programs_are_a_question if {
	_git([], ["config", "core.hooksPath", "/tmp/x"]) == {"command.writes_startup"}
	_git([], ["config", "alias.x", "!sh"]) == {"command.writes_startup"}
}

test_programs_that_git_is_told_to_start if {
	_versions([call("git", [], ["config", "core.hooksPath", "./h"])]).told == {
		"command.writes_startup: git config core.hooksPath ./h",
	}
	_versions([call("git", [], ["config", "user.name", "ana"])]).told == set()
	_versions([call("git", [], ["config", "alias.x", "!id"])]).told == {"command.writes_startup: git config alias.x !id"}
	_versions([call("git", [], ["config", "filter.x.clean", "./c"])]).told == {
		"command.writes_startup: git config filter.x.clean ./c",
	}
	_versions([call("git", [], ["clone", "ext::sh -c id"])]).told == {"command.runs_inline_program: git clone 'ext::sh -c id'"}
	_versions([call("git", ["-c"], ["core.hooksPath=./h", "status"])]).told == {
		"command.writes_startup: git -c core.hooksPath=./h status",
	}
	_versions([call("git", ["-c"], ["core.pager=./p", "log"])]).told == {"command.runs_inline_program: git -c core.pager=./p log"}
	_versions([call("git", ["-c"], ["core.pager=less -FRX", "log"])]).told == set()
	_versions([call("git", ["--exec-path=./x"], ["status"])]).told == {"command.runs_inline_program: git --exec-path=./x status"}
	_versions([call("git", ["--upload-pack"], ["fetch", "x"])]).told == {"command.runs_inline_program: git --upload-pack fetch x"}
	[key |
		some key in ["core.hookspath", "core.pager", "user.name", "alias.st"]
		data.bailiff._plants(key)
	] == [
		"core.hookspath",
		"core.pager",
		"alias.st",
	]
}

test_settings_are_found_however_they_are_spelt if {
	every words in [
		["config", "set", "core.pager", "./p"], ["config", "core.pager", "./p"], ["config", "set", "alias.x", "!id"],
	] {
		_git([], words) == {"command.writes_startup"}
	}
	every words in [
		["config", "get", "core.pager"], ["config", "core.pager"], ["config", "unset", "core.pager", "x"],
		["config", "set", "user.name", "a"],
	] {
		_git([], words) == set()
	}
	_git(["--get"], ["config", "core.pager", "x"]) == set()
	data.bailiff._git_set(call("git", [], ["config", "set", "A.b", "c"])) == "a.b"
}

test_settings_of_one_call_are_found if {
	every words in [["git", "-c", "a.b=c", "fetch"], ["git", "clone", "--config", "a.b=c", "x"], ["git", "clone", "--config=a.b=c", "x"]] {
		data.bailiff._git_given({"argv": words}) == {"a.b=c"}
	}
}

test_verbs_that_serve_or_start_are_a_question if {
	_git(["--port"], ["daemon"]) == {"command.sends_files"}
	_git(["--unsafe-paths"], ["apply"]) == {"command.writes_system"}
	_git([], ["maintenance", "start"]) == {"command.writes_startup"}
	_git([], ["maintenance", "run"]) == set()
}

test_settings_of_one_call_that_start_programs if {
	[setting |
		some setting in [
			"core.pager=./p", "core.pager=less -R", "core.pager=", "alias.x=!id", "user.name=./a", "init.templateDir=./t",
			"include.path=./x", "diff.x.textconv=./t", "url.x.insteadOf=./y",
		]
		data.bailiff._starts_program(setting)
	] == ["core.pager=./p", "alias.x=!id", "diff.x.textconv=./t"]
}

test_an_alias_of_a_verb_that_only_looks_is_no_program if {
	every value in ["status -sb", "status", "describe --tags"] {
		_git([], ["config", "alias.a", value]) == set()
	}
	every value in ["!id", "push --force", "checkout", "stash", "status; id", "log --output=x"] {
		_git([], ["config", "alias.a", value]) == {"command.writes_startup"}
	}
	_git(["--global"], ["config", "alias.a", "status"]) == {"command.writes_startup"}
	_git([], ["config", "alias.a", "-c core.pager=./x log"]) == {"command.writes_startup"}
}
