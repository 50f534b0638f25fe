package bailiff_test

test_metadata_services_are_a_question if {
	every host in ["169.254.169.254", "metadata.google.internal", "169.254.1.1", "169.254.169.254.nip.io", "fd00:ec2::254"] {
		_going([call("curl", [], [])], host) == {"command.reaches_metadata"}
	}
}

test_hosts_and_copies_are_named if {
	_told_with([call("curl", [], [])], {"hosts": ["169.254.169.254"]}) == {"command.reaches_metadata: 169.254.169.254"}
	_told_with([call("curl", [], [])], {"hosts": ["x.test"]}) == set()
	_told([call("curl", ["--resolve"], ["x.test:80:169.254.169.254", "http://x.test"])]) == {
		"command.reaches_metadata: curl --resolve x.test:80:169.254.169.254 http://x.test",
	}
	_told([call("rsync", [], ["a", "h:b"])]) == {
		"command.reaches_another_host: rsync a h:b",
		"command.sends_files: rsync a h:b",
	}
	_told([call("rsync", [], ["h:b", "a"])]) == {"command.reaches_another_host: rsync h:b a"}
	_told([call("rsync", [], ["a", "b"])]) == set()
}
