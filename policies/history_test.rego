package bailiff_test

git(flags, operands) := found([call("git", flags, operands)])

test_rewriting_is_a_question if {
	every asked in [
		[["--force"], ["push"]], [["-f"], ["push", "origin"]], [["--force-with-lease"], ["push"]], [[], ["push", "origin", "+main"]],
		[[], ["push", "origin", ":old"]], [["--hard"], ["reset"]], [["-f", "-d"], ["clean"]], [["-D"], ["branch", "x"]],
		[[], ["filter-branch"]], [["-i"], ["rebase"]], [[], ["stash", "clear"]], [[], ["reflog", "expire"]],
	] {
		git(asked[0], asked[1]) == {"command.rewrites_history"}
	}
}

test_ordinary_work_is_not if {
	every asked in [
		[[], ["push", "origin", "main"]], [["-u"], ["push", "origin", "x"]], [["-m"], ["commit"]], [["--soft"], ["reset", "HEAD~1"]],
		[["-n", "-f"], ["clean"]], [["-d"], ["branch", "x"]], [["--abort"], ["rebase"]], [[], ["stash", "pop"]], [[], ["log", "clean"]],
		[[], ["config", "user.email", "a@b.c"]],
	] {
		git(asked[0], asked[1]) == set()
	}
}

test_settings_that_start_programs_are_a_question if {
	git([], ["config", "core.hooksPath", "/tmp/x"]) == {"command.writes_startup"}
	git([], ["config", "alias.x", "!sh"]) == {"command.writes_startup"}
}
