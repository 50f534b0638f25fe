package bailiff_test

# What is found in deletions, and of the paths that they name.
_deleted(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.deletes,
		data.bailiff._examined.deletes_folders,
		data.bailiff._examined.calls,
		data.bailiff._examined.paths,
	}) with input as request("cli", calls)
}

_destroys(calls) if {
	some finding in data.bailiff._examined.deletes with input as request("cli", calls)
	finding.rule == "command.destroys_system"
}

test_system_folders_and_homes_are_not_deleted if {
	every path in ["/", "/etc", "/usr", "~", "/root", "/home/ana", "/*", "/etc/*", "~/*", "~/.*", "/e*", "/[a-z]*", "/???", "~/.."] {
		_destroys([writing("rm", ["-r", "-f"], path)])
	}
}

test_folders_below_are_a_question if {
	every path in ["build", "/etc/nginx", "~/project", "/home/ana/project", "/workspace/*", "/tmp", "..", "/tmp*"] {
		rules_of := _deleted([writing("rm", ["-r"], path)]).rules
		not "command.destroys_system" in rules_of
		"command.deletes_recursively" in rules_of
	}
}

test_recursion_may_be_abbreviated if "command.destroys_system" in _deleted([writing("rm", ["--recur"], "/")]).rules

test_named_files_are_ordinary if {
	_deleted([writing("rm", [], "a.txt")]).rules == set()
	_deleted([writing("rm", ["-f"], "build/a.o")]).rules == set()
	_deleted([writing("rm", [], "*.o")]).rules == {"command.deletes_by_pattern"}
}

test_names_from_elsewhere_are_a_question if {
	_deleted([object.union(call("rm", [], []), {"wrappers": ["xargs"]})]).rules == {"command.deletes_by_pattern"}
}

test_deletions_name_their_target if {
	_deleted([writing("rm", ["-r"], "build")]).told == {"command.deletes_recursively: build"}
	_deleted([writing("rm", ["-r", "-f"], "/etc")]).told == {
		"command.deletes_recursively: /etc",
		"command.destroys_system: /etc",
		"command.writes_system: /etc",
	}
	_deleted([writing("rm", [], "/etc/*")]).told == {
		"command.changes_accounts: /etc/*",
		"command.changes_own_settings: /etc/*",
		"command.deletes_by_pattern: /etc/*",
		"command.destroys_system: /etc/*",
		"command.preloads_library: /etc/*",
		"command.writes_ssh: /etc/*",
		"command.writes_startup: /etc/*",
		"command.writes_system: /etc/*",
	}
	_deleted([writing("rm", [], "*.o")]).told == {"command.deletes_by_pattern: *.o"}
	_deleted([writing("rm", [], "a.o")]).told == set()
	_deleted([writing("rmdir", [], "build")]).told == set()
	_deleted([call("rm", ["-r"], [])]).told == set()
	_deleted([object.union(writing("rm", ["-r"], "a"), {"wrappers": ["xargs"]})]).told == {
		"command.deletes_by_pattern: ",
		"command.deletes_recursively: ",
	}
	_deleted([object.union(call("rm", [], []), {"wrappers": ["find"]})]).told == set()
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
	_deleted([call("rm", ["-r", "-f"], ["/tmp/tmp.$(1)"])]).told == set()
	every target in ["/tmp/tmp.$(1)/../x", "/tmp/tmp.$(1)/x/", "/tmp/tmp.$(…)", "/tmp/x"] {
		count(_deleted([call("rm", ["-r"], [target])]).told) == 1
	}
	every findings, moving in {
		1: call("mv", [], ["src", "/tmp/tmp.$(1)"]),
		2: call("tar", ["--remove-files"], ["src"]),
	} {
		count(_deleted([moving, call("rm", ["-r"], ["/tmp/tmp.$(1)"])]).told) == findings
	}
}
