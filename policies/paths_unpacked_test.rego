package bailiff_test

# What is found of archives and folders that are laid out.
_unpacked(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.unpacks,
		data.bailiff._examined.spreads,
		data.bailiff._examined.saves,
		data.bailiff._examined.paths,
	}) with input as request("cli", calls)
}

_over_home := {"command.writes_startup"}

test_archives_are_not_unpacked_over_a_home_unasked if {
	every program in ["tar", "unzip", "7z", "cpio", "git", "patch", "stow"] {
		_unpacked([writing(program, [], "~")]).rules == _over_home
		_unpacked([writing(program, [], "~/x")]).rules == set()
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

_spread(program, source) := _unpacked([object.union(call(program, [], [source, "~/"]), {"writes": ["~"]})]).rules

test_server_does_not_name_files_of_a_home_unasked if {
	_unpacked([writing("wget", ["--content-disposition"], "~")]).rules == _over_home
	_unpacked([writing("wget", [], "~")]).rules == set()
}

test_policies_are_not_replaced_unasked if {
	every replacing in [
		call("cp", ["-T"], ["new", "policies"]),
		call("rsync", [], ["new/", "policies"]),
		call("mv", [], ["policies", "old"]),
	] {
		"command.changes_own_settings" in _unpacked([object.union(replacing, {"writes": ["house/policies"]})]).rules
	}
	every other in [call("cp", [], ["notes.md", "policies"]), call("mv", [], ["notes.md", "policies"])] {
		_unpacked([object.union(other, {"writes": ["house/policies"]})]).rules == set()
	}
}
