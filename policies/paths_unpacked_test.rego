package bailiff_test

_over_home := {"command.writes_startup"}

test_archives_are_not_unpacked_over_a_home_unasked if {
	every program in ["tar", "unzip", "7z", "cpio", "git", "patch", "stow"] {
		_found([writing(program, [], "~")]) == _over_home
		_found([writing(program, [], "~/x")]) == set()
	}
}

test_content_of_a_folder_is_not_spread_over_a_home_unasked if {
	every source in ["x/.", ".", "x/.*"] {
		_spread("cp", source) == _over_home
		_spread("rsync", source) == _over_home
	}
	_spread("rsync", "x/") == _over_home
	_spread("cp", "x/") == set()
	_spread("cp", "x") == set()
}

_spread(program, source) := _found([object.union(call(program, [], [source, "~/"]), {"writes": ["~"]})])

test_server_does_not_name_files_of_a_home_unasked if {
	_found([writing("wget", ["--content-disposition"], "~")]) == _over_home
	_found([writing("wget", [], "~")]) == set()
}
