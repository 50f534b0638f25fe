package bailiff_test

_clears(calls) := "command.deletes_recursively" in _told_of(found).rules if {
	found := {finding |
		"clearing_words" in data.bailiff._aspects
		some finding in data.bailiff._examined.clearing_words
	} with input as request("cli", calls)
}

test_options_that_empty_a_home_or_the_system_are_found if {
	every folder in ["~", "~/", "/home/ana", "/", "/etc", "..", "/root"] {
		_clears([call("unheard-of", ["--clear"], ["init", folder])])
	}
	every option in ["--delete", "--clean-target", "--overwrite=yes"] {
		_clears([call("unheard-of", [option], ["~"])])
	}
}

test_options_that_empty_a_folder_of_the_project_are_ordinary if {
	every folder in [".venv", "build", "/home/ana/project/.venv", "~/project/venv"] {
		not _clears([call("unheard-of", ["--clear"], ["init", folder])])
	}
	not _clears([call("unheard-of", ["--color"], ["~"])])
	not _clears([call("unheard-of", ["--clear", "--dry-run"], ["~"])])
	not _clears([call("ls", ["--clear"], ["~"])])
}
