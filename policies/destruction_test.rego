package bailiff_test

_destroys(calls) if "command.destroys_system" in _found(calls)

test_system_folders_and_homes_are_not_deleted if {
	every path in ["/", "/etc", "/usr", "~", "/root", "/home/ana", "/*", "/etc/*", "~/*", "~/.*", "/e*", "/[a-z]*", "/???", "~/.."] {
		_destroys([writing("rm", ["-r", "-f"], path)])
	}
}

test_folders_below_are_a_question if {
	every path in ["build", "/etc/nginx", "~/project", "/home/ana/project", "/workspace/*", "/tmp", "..", "/tmp*"] {
		not _destroys([writing("rm", ["-r"], path)])
		"command.deletes_recursively" in _found([writing("rm", ["-r"], path)])
	}
}

test_recursion_may_be_abbreviated if _destroys([writing("rm", ["--recur"], "/")])

test_named_files_are_ordinary if {
	_found([writing("rm", [], "a.txt")]) == set()
	_found([writing("rm", ["-f"], "build/a.o")]) == set()
	_found([writing("rm", [], "*.o")]) == {"command.deletes_by_pattern"}
}

test_names_from_elsewhere_are_a_question if {
	_found([object.union(call("rm", [], []), {"wrappers": ["xargs"]})]) == {"command.deletes_by_pattern"}
}

test_deletions_name_their_target if {
	_told([writing("rm", ["-r"], "build")]) == {"command.deletes_recursively: build"}
	_told([writing("rm", ["-r", "-f"], "/etc")]) == {
		"command.deletes_recursively: /etc",
		"command.destroys_system: /etc",
		"command.writes_system: /etc",
	}
	_told([writing("rm", [], "/etc/*")]) == {
		"command.changes_accounts: /etc/*",
		"command.changes_own_settings: /etc/*",
		"command.deletes_by_pattern: /etc/*",
		"command.destroys_system: /etc/*",
		"command.preloads_library: /etc/*",
		"command.writes_ssh: /etc/*",
		"command.writes_startup: /etc/*",
		"command.writes_system: /etc/*",
	}
	_told([writing("rm", [], "*.o")]) == {"command.deletes_by_pattern: *.o"}
	_told([writing("rm", [], "a.o")]) == set()
	_told([writing("rmdir", [], "build")]) == set()
	_told([call("rm", ["-r"], [])]) == set()
	_told([object.union(writing("rm", ["-r"], "a"), {"wrappers": ["xargs"]})]) == {
		"command.deletes_by_pattern: ",
		"command.deletes_recursively: ",
	}
	_told([object.union(call("rm", [], []), {"wrappers": ["find"]})]) == set()
	[flag |
		some flag in ["-r", "-R", "--recursive", "--recurs", "-f", "--re", "-i"]
		data.bailiff._recursive(call("rm", [flag], ["a"]))
	] == [
		"-r",
		"-R",
		"--recursive",
		"--recurs",
	]
}

test_a_folder_that_the_text_made_may_go if {
	_told([call("rm", ["-r", "-f"], ["/tmp/tmp.$(1)"])]) == set()
	every target in ["/tmp/tmp.$(1)/../x", "/tmp/tmp.$(1)/x/", "/tmp/tmp.$(…)", "/tmp/x"] {
		count(_told([call("rm", ["-r"], [target])])) == 1
	}
	every findings, moving in {
		1: call("mv", [], ["src", "/tmp/tmp.$(1)"]),
		2: call("tar", ["--remove-files"], ["src"]),
	} {
		count(_told([moving, call("rm", ["-r"], ["/tmp/tmp.$(1)"])])) == findings
	}
}
