package bailiff_test

_gone(program, flags, names, folder) := object.union(
	call(program, flags, names),
	{"writes": [path | some name in names; path := concat("/", [folder, name])]},
)

test_built_things_are_found_as_such if {
	every name in ["node_modules", "build", ".venv"] {
		_found([_gone("rm", ["-r", "-f"], [name], "/home/ana/project")]) == {"command.deletes_built"}
		_found([_gone("rm", ["-r", "-f"], [name], "~/project")]) == {"command.deletes_built"}
		_found([_gone("rm", ["-r"], [name, "dist"], "/srv/app")]) == {"command.deletes_built"}
	}
	_found([_gone("rm", ["-f"], ["*.o"], "/srv/app")]) == {"command.deletes_built"}
	_found([_gone("rm", ["-f"], ["build"], "/srv/app")]) == set()
	_found([_gone("rm", ["-f"], ["*.o", "app"], "/srv/app")]) == {"command.deletes_built"}
	every other in ["*.c", "../app", "$X", "~/app", "a?b", "-x"] {
		not "command.deletes_built" in _found([_gone("rm", ["-f"], ["*.o", other], "/srv/app")])
	}
}

test_what_is_no_built_thing_is_a_question if {
	every names in [["src"], ["build", "src"], ["build/"], ["../build"], ["$X/build"], ["build/*"], ["*.c"]] {
		"command.deletes_recursively" in _found([_gone("rm", ["-r"], names, "/srv/app")])
		not "command.deletes_built" in _found([_gone("rm", ["-r"], names, "/srv/app")])
	}
	every folder in ["", "~", "/home/ana", "/home", "/etc", "/usr", "/tmp", "/tmp/x", "/var/tmp", "$PWD", "/srv/*"] {
		not "command.deletes_built" in _found([_gone("rm", ["-r"], ["build"], folder)])
	}
	"command.deletes_recursively" in _found([writing("rm", ["-r"], "build")])
	"command.deletes_recursively" in _found([object.union(_gone("rm", ["-r"], ["build"], "/srv/app"), {"wrappers": ["xargs"]})])
}

test_git_cleans_what_is_ignored_and_built if {
	_found([call("git", ["-f", "-d", "-X"], ["clean", "node_modules"])]) == set()
	every words in [["clean"], ["clean", "src"], ["clean", "build", "src"]] {
		_found([call("git", ["-f", "-d", "-X"], words)]) == {"command.rewrites_history"}
	}
	_found([call("git", ["-f", "-d"], ["clean", "build"])]) == {"command.rewrites_history"}
}
