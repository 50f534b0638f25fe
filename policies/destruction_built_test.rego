package bailiff_test

# What is found in deletions.
_deletions(calls) := _told_of(found) if {
	found := data.bailiff._examined.deletes | data.bailiff._examined.calls with input as request("cli", calls)
}

_gone(program, flags, names, folder) := object.union(
	call(program, flags, names),
	{"writes": [path | some name in names; path := concat("/", [folder, name])]},
)

test_built_things_are_found_as_such if {
	every name in ["node_modules", "build", ".venv"] {
		_deletions([_gone("rm", ["-r", "-f"], [name], "/home/ana/project")]).rules == {"command.deletes_built"}
		_deletions([_gone("rm", ["-r", "-f"], [name], "~/project")]).rules == {"command.deletes_built"}
		_deletions([_gone("rm", ["-r"], [name, "dist"], "/srv/app")]).rules == {"command.deletes_built"}
	}
	_deletions([_gone("rm", ["-f"], ["*.o"], "/srv/app")]).rules == {"command.deletes_built"}
	_deletions([_gone("rm", ["-f"], ["build"], "/srv/app")]).rules == set()
	_deletions([_gone("rm", ["-f"], ["*.o", "app"], "/srv/app")]).rules == {"command.deletes_built"}
	every other in ["*.c", "../app", "$X", "~/app", "a?b", "-x"] {
		not "command.deletes_built" in _deletions([_gone("rm", ["-f"], ["*.o", other], "/srv/app")]).rules
	}
}

test_what_is_no_built_thing_is_a_question if {
	every names in [["src"], ["build", "src"], ["build/"], ["../build"], ["$X/build"], ["build/*"], ["*.c"]] {
		"command.deletes_recursively" in _deletions([_gone("rm", ["-r"], names, "/srv/app")]).rules
		not "command.deletes_built" in _deletions([_gone("rm", ["-r"], names, "/srv/app")]).rules
	}
	every folder in ["", "~", "/home/ana", "/home", "/etc", "/usr", "/tmp", "/tmp/x", "/var/tmp", "$PWD", "/srv/*"] {
		not "command.deletes_built" in _deletions([_gone("rm", ["-r"], ["build"], folder)]).rules
	}
	"command.deletes_recursively" in _deletions([writing("rm", ["-r"], "build")]).rules
	"command.deletes_recursively" in _deletions([object.union(_gone("rm", ["-r"], ["build"], "/srv/app"), {"wrappers": ["xargs"]})]).rules
}

test_git_cleans_what_is_ignored_and_built if {
	_versions([call("git", ["-f", "-d", "-X"], ["clean", "node_modules"])]).rules == set()
	every words in [["clean"], ["clean", "src"], ["clean", "build", "src"]] {
		_versions([call("git", ["-f", "-d", "-X"], words)]).rules == {"command.rewrites_history"}
	}
	_versions([call("git", ["-f", "-d"], ["clean", "build"])]).rules == {"command.rewrites_history"}
}
