package bailiff_test

# What git is found to do.
_versions(calls) := _told_of(found) if {
	found := data.bailiff._examined.versions | data.bailiff._examined.calls with input as request("cli", calls)
}

_git(flags, operands) := _versions([call("git", flags, operands)]).rules

test_rewriting_is_a_question if {
	every asked in [
		[["--force"], ["push"]], [["-f"], ["push", "origin"]], [["--force-with-lease"], ["push"]], [[], ["push", "origin", "+main"]],
		[[], ["push", "origin", ":old"]], [["--hard"], ["reset"]], [["-f", "-d"], ["clean"]], [["-D"], ["branch", "x"]],
		[[], ["filter-branch"]], [["-i"], ["rebase"]], [[], ["stash", "clear"]], [[], ["reflog", "expire"]],
	] {
		_git(asked[0], asked[1]) == {"command.rewrites_history"}
	}
}

test_ordinary_work_is_not if {
	every asked in [
		[[], ["push", "origin", "main"]], [["-u"], ["push", "origin", "x"]], [["-m"], ["commit"]], [["--soft"], ["reset", "HEAD~1"]],
		[["-n", "-f"], ["clean"]], [["-d"], ["branch", "x"]], [["--abort"], ["rebase"]], [[], ["stash", "pop"]], [[], ["log", "clean"]],
		[[], ["config", "user.email", "a@b.c"]],
	] {
		_git(asked[0], asked[1]) == set()
	}
}

test_commands_of_git_that_lose_work if {
	[words |
		some words in _git_words
		_rewritten([], words)
	] == [
		["push", "origin", "+main"],
		["push", "origin", ":main"],
		["checkout", "."],
		["restore", "."],
		["reflog", "expire"],
		["stash", "drop"],
		["filter-branch"],
		["rebase", "main"],
	]
	[flag |
		some flag in ["-f", "--force", "--mirror", "-u", "--tags"]
		_rewritten([flag], ["push"])
	] == [
		"-f",
		"--force",
		"--mirror",
	]
	[flag |
		some flag in ["--hard", "--soft", "--keep"]
		_rewritten([flag], ["reset"])
	] == [
		"--hard",
		"--keep",
	]
	[flag |
		some flag in ["--continue", "--abort", "-i"]
		_rewritten([flag], ["rebase"])
	] == [
		"-i",
	]
}

_rewritten(flags, operands) if "history" in data.bailiff._done_to_versions(call("git", flags, operands))

_git_words := [
	["status"],
	["push", "origin", "+main"],
	["push", "origin", ":main"],
	["push", "origin", "main"],
	["checkout", "."],
	["checkout", "main"],
	["restore", "."],
	["reflog", "expire"],
	["reflog"],
	["stash", "drop"],
	["stash"],
	["filter-branch"],
	["rebase", "main"],
]

test_folders_and_patterns_lose_more_than_a_file if {
	[word |
		some word in [".", "./", "..", ":/", "src/", "src", "a/b", "*.go", "a.go", "Makefile", "src/a.go"]
		data.bailiff._names_folder(word)
	] == [".", "./", "..", ":/", "src/", "src", "a/b", "*.go"]
	_git([], ["restore", "src"]) == {"command.rewrites_history"}
	_git(["--staged", "--worktree"], ["restore", "."]) == {"command.rewrites_history"}
	_git(["--staged"], ["restore", "."]) == set()
	_git([], ["checkout", "feature/x"]) == set()
}

test_branches_that_move_lose_commits if {
	every asked in [
		[["-C"], ["switch", "main", "HEAD~1"]], [["-B"], ["checkout", "main", "HEAD~1"]], [["-f"], ["branch", "main", "HEAD~1"]],
		[["-M"], ["branch", "x", "main"]], [["--reset"], ["read-tree", "HEAD"]], [[], ["update-ref", "refs/heads/main", "x"]],
		[[], ["prune"]], [["-r", "-f"], ["rm", "."]],
	] {
		_git(asked[0], asked[1]) == {"command.rewrites_history"}
	}
	every asked in [
		[["-c"], ["switch", "x"]], [["-b"], ["checkout", "x"]], [["-M"], ["branch", "main"]], [["-n"], ["prune"]],
		[["-r", "-f", "--cached"], ["rm", "."]],
	] {
		_git(asked[0], asked[1]) == set()
	}
}

test_what_nothing_leads_to_is_kept if {
	every words in [["gc", "--prune=all"], ["gc", "--pru=now"], ["clean", "$OPTIONS"]] {
		_versions([call("git", [], words)]).rules == {"command.rewrites_history"}
	}
	every words in [["gc"], ["gc", "--prune=2.weeks.ago"], ["clean", "-n"]] {
		_versions([call("git", [], words)]).rules == set()
	}
	_versions([call("git", ["--pathspec-from-file"], ["checkout"])]).rules == {"command.rewrites_history"}
}

test_what_options_and_settings_lose_is_found if {
	[words |
		some words in [
			["git", "branch", "-d", "-f", "x"], ["git", "branch", "-d", "x"], ["git", "checkout", "--", "src"],
			["git", "checkout", "--", "a.go"], ["git", "worktree", "remove", "--force", "x"], ["git", "worktree", "remove", "x"],
			["git", "worktree", "add", "--force", "x"], ["git", "update-ref", "-d", "refs/x"],
			["git", "restore", "--pathspec-from-file", "a.go"], ["git", "restore", "--staged", "--pathspec-from-file", "a.go"],
			["git", "-c", "clean.requireForce=false", "clean"], ["git", "-c", "clean.requireForce=true", "clean"],
			["git", "-c", "clean.requireForce=no", "clean", "-n"], ["git", "-c", "gc.pruneExpire=now", "gc"],
			["git", "-c", "gc.reflogExpire=all", "reflog"], ["git", "-c", "gc.pruneExpire=now", "log"], ["git", "-c", "gc.auto=0", "gc"],
		]
		"history" in data.bailiff._done_to_versions(_typed(words))
	] == [
		["git", "branch", "-d", "-f", "x"], ["git", "checkout", "--", "src"], ["git", "worktree", "remove", "--force", "x"],
		["git", "update-ref", "-d", "refs/x"], ["git", "restore", "--pathspec-from-file", "a.go"],
		["git", "-c", "clean.requireForce=false", "clean"], ["git", "-c", "gc.pruneExpire=now", "gc"],
		["git", "-c", "gc.reflogExpire=all", "reflog"],
	]
}

# A call with words in the order in which they were typed, where "-c" alone takes a value.
_typed(words) := object.union(
	call(words[0], [word | some word in words; startswith(word, "-")], [word |
		some position, word in words
		position > 0
		not startswith(word, "-")
		words[position - 1] != "-c"
	]),
	{"argv": words},
)
