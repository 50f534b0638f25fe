package bailiff_test

# What is found of hosts that are named.
_reached(calls) := _reached_with(calls, {})

_reached_with(calls, facts) := _told_of(found) if {
	found := union({
		data.bailiff._examined.hosts,
		data.bailiff._examined.sends,
		data.bailiff._examined.copies_over,
	}) with input as _text_with(calls, facts) with data.bailiff.tables.network as _usual_tables.network
}

test_metadata_services_are_a_question if {
	every host in ["169.254.169.254", "metadata.google.internal", "169.254.1.1", "169.254.169.254.nip.io", "fd00:ec2::254"] {
		_reached_with([call("curl", [], [])], {"hosts": [host]}).rules == {"command.reaches_metadata"}
	}
}

test_hosts_and_copies_are_named if {
	_reached_with([call("curl", [], [])], {"hosts": ["169.254.169.254"]}).told == {"command.reaches_metadata: 169.254.169.254"}
	_reached_with([call("curl", [], [])], {"hosts": ["x.test"]}).told == set()
	_reached([call("curl", ["--resolve"], ["x.test:80:169.254.169.254", "http://x.test"])]).told == {
		"command.reaches_metadata: curl --resolve x.test:80:169.254.169.254 http://x.test",
	}
	_reached([call("rsync", [], ["a", "h:b"])]).told == {
		"command.reaches_another_host: rsync a h:b",
		"command.sends_files: rsync a h:b",
	}
	_reached([call("rsync", [], ["h:b", "a"])]).told == {"command.reaches_another_host: rsync h:b a"}
	_reached([call("rsync", [], ["a", "b"])]).told == set()
}
