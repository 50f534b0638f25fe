package bailiff_test

test_token_goes_to_no_program_that_git_is_told_to_start if {
	every words in [
		["-c", "core.pager=./x", "log"], ["-c", "credential.helper=./x", "fetch"], ["--exec-path=./x", "status"],
		["clone", "-u", "./x", "y"], ["fetch", "--upload-pack=./x", "."], ["rebase", "--exec=./x", "HEAD~1"],
	] {
		not _gets_token(request("telegram", [object.union(call("git", words, words), {"argv": array.concat(["git"], words)})]))
	}
}

test_token_is_for_known_subcommands if {
	not _gets_token(request("telegram", [call("git", [], ["alias-of-somebody"])]))
	not _gets_token(request("telegram", [call("gh", [], ["extension", "exec", "x"])]))
	not _gets_token(request("telegram", [call("gh", [], ["auth", "token"])]))
	_gets_token(request("telegram", [call("gh", [], ["pr", "list"])]))
}

test_subcommands_and_options_start_nothing_else if {
	[word |
		some word in ["push", "status", "alias", "--version", "bisect"]
		data.bailiff._its_subcommand(call("git", [], [word]))
	] == [
		"push",
		"status",
		"--version",
	]
	[option |
		some option in ["--exec=x", "--upload-pack", "-c", "-x", "-v", "--output=x"]
		data.bailiff._starts_others(call("git", [option], ["user.name=x", "status"]))
	] == [
		"--exec=x",
		"--upload-pack",
		"-x",
		"--output=x",
	]
	[setting |
		some setting in ["user.name=x", "core.pager=x", "alias.x=y"]
		data.bailiff._starts_others(call("git", ["-c"], [setting, "status"]))
	] == [
		"core.pager=x",
		"alias.x=y",
	]
	[words |
		some words in [["submodule", "foreach"], ["submodule", "update"]]
		data.bailiff._starts_others(call("git", [], words))
	] == [
		["submodule", "foreach"],
	]
	[flags |
		some flags in [["-u"], []]
		data.bailiff._starts_others(call("git", flags, ["clone", "x"]))
	] == [
		["-u"],
	]
}

test_assignments_may_choose_programs if {
	[name |
		some name in ["GH_PAGER", "LESSOPEN", "GIT_AUTHOR_NAME", "https_proxy", "LANG", "LD_PRELOAD"]
		data.bailiff._risky_assignment({"assigns": [name]})
	] == [
		"GH_PAGER",
		"LESSOPEN",
		"https_proxy",
		"LD_PRELOAD",
	]
	[name |
		some name in ["GH_PAGER", "XDG_CONFIG_HOME", "GIT_ASKPASS", "TZ"]
		data.bailiff._leading_program(name)
	] == [
		"GH_PAGER",
		"XDG_CONFIG_HOME",
		"GIT_ASKPASS",
	]
}
