package bailiff_test

test_search_deletes if {
	_destroys([call("find", [], ["/", "-delete"])])
	not _destroys([call("find", [], [".", "-delete"])])
	_found([call("find", [], [".", "-delete"])]) == {"command.deletes_recursively"}
	_found([call("find", [], [".", "-name", "*.go"])]) == set()
	not _destroys([call("find", [], ["/", "-name", "*.pyc", "-delete"])])
}

test_searches_name_the_folder_or_the_call if {
	_told([call("find", [], ["/", "-delete"])]) == {
		"command.deletes_recursively: find / -delete",
		"command.destroys_system: /",
	}
	_told([call("find", [], ["/tmp/x", "-delete"])]) == {"command.deletes_recursively: find /tmp/x -delete"}
	_told([call("find", [], ["~/", "-delete"])]) == {
		"command.deletes_recursively: find ~/ -delete",
		"command.destroys_system: ~/",
	}
	_told([call("find", [], ["/usr", "-name", "*.pyc", "-delete"])]) == {
		"command.deletes_recursively: find /usr -name *.pyc -delete",
	}
	_told([call("find", [], [".", "-exec", "rm", "{}", ";"]), object.union(call("rm", [], ["{}"]), {"wrappers": ["find"]})]) == {
		"command.deletes_by_pattern: ",
		"command.deletes_recursively: find . -exec rm {} ;",
	}
	_told([call("find", [], [".", "-name", "*.go"])]) == set()
	[folder |
		some folder in ["/", "~", "~/", "/usr/", "/tmp/x", ".", "build"]
		data.bailiff._folder_of_search(folder)
	] == [
		"/",
		"~",
		"~/",
		"/usr/",
	]
	[data.bailiff._trim_suffix_slash(path) | some path in ["/", "/a/", "/a//", "a"]] == ["/", "/a", "/a", "a"]
}

test_searches_for_what_a_build_makes if {
	_found([_search_of(["find", ".", "-name", "*.pyc", "-delete"])]) == {"command.deletes_built"}
	every words in [
		["find", ".", "-delete", "-name", "*.pyc"], ["find", "..", "-name", "*.pyc", "-delete"],
		["find", ".", "-name", "*.pyc", "-o", "-delete"], ["find", ".", "-name", "build", "-delete"],
		["find", ".", "-name", "*.py", "-delete"], ["find", "/srv", "-name", "*.pyc", "-delete"],
	] {
		_found([_search_of(words)]) == {"command.deletes_recursively"}
	}
}

_search_of(words) := object.union(
	call("find", [], []),
	{"argv": words, "reads": ["~/project"], "writes": ["~/project/**/*"]},
)
