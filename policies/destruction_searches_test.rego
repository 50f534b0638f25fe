package bailiff_test

# What is found in searches, and in what they start.
_search(calls) := _told_of(found) if {
	found := data.bailiff._examined.searches | data.bailiff._examined.deletes with input as request("cli", calls)
}

test_search_deletes if {
	"command.destroys_system" in _search([call("find", [], ["/", "-delete"])]).rules
	not "command.destroys_system" in _search([call("find", [], [".", "-delete"])]).rules
	_search([call("find", [], [".", "-delete"])]).rules == {"command.deletes_recursively"}
	_search([call("find", [], [".", "-name", "*.go"])]).rules == set()
	not "command.destroys_system" in _search([call("find", [], ["/", "-name", "*.pyc", "-delete"])]).rules
}

test_searches_name_the_folder_or_the_call if {
	_search([call("find", [], ["/", "-delete"])]).told == {
		"command.deletes_recursively: find / -delete",
		"command.destroys_system: /",
	}
	_search([call("find", [], ["/tmp/x", "-delete"])]).told == {"command.deletes_recursively: find /tmp/x -delete"}
	_search([call("find", [], ["~/", "-delete"])]).told == {
		"command.deletes_recursively: find ~/ -delete",
		"command.destroys_system: ~/",
	}
	_search([call("find", [], ["/usr", "-name", "*.pyc", "-delete"])]).told == {
		"command.deletes_recursively: find /usr -name *.pyc -delete",
	}
	_search([call("find", [], [".", "-exec", "rm", "{}", ";"]), object.union(call("rm", [], ["{}"]), {"wrappers": ["find"]})]).told == {
		"command.deletes_by_pattern: ",
		"command.deletes_recursively: find . -exec rm {} ;",
	}
	_search([call("find", [], [".", "-name", "*.go"])]).told == set()
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
	_search([_search_of(["find", ".", "-name", "*.pyc", "-delete"])]).rules == {"command.deletes_built"}
	every words in [
		["find", ".", "-delete", "-name", "*.pyc"], ["find", "..", "-name", "*.pyc", "-delete"],
		["find", ".", "-name", "*.pyc", "-o", "-delete"], ["find", ".", "-name", "build", "-delete"],
		["find", ".", "-name", "*.py", "-delete"], ["find", "/srv", "-name", "*.pyc", "-delete"],
	] {
		_search([_search_of(words)]).rules == {"command.deletes_recursively"}
	}
}

_search_of(words) := object.union(
	call("find", [], []),
	{"argv": words, "reads": ["~/project"], "writes": ["~/project/**/*"]},
)
