package bailiff_test

_copies(words) := {finding.rule | some finding in found} if {
	found := data.bailiff._examined.backs_up with input as request("cli", [call("restic", [], words)])
}

test_copies_for_another_host_are_sent if {
	every store in ["rest:https://a.test", "sftp:me@a.test:/r", "--repo=s3:a/b", "me@a.test:/r"] {
		_copies(["-r", store, "backup", "src"]) == {"command.sends_files"}
	}
}

test_copies_that_stay_and_looks_send_nothing if {
	_copies(["-r", "/srv/copies", "backup", "src"]) == set()
	_copies(["-r", "rest:https://a.test", "snapshots"]) == set()
}
