package bailiff_test

test_whole_folders_hold_secrets if {
	_found([reading("tar", "~")]) == {"command.reads_credentials"}
	_found([reading("tar", "src")]) == set()
}

test_packed_folders_are_named if {
	_told([reading("tar", "~")]) == {"command.reads_credentials: ~"}
	_told([reading("tar", "~/.ssh")]) == {"command.reads_credentials: ~/.ssh"}
	_told([reading("tar", "src")]) == set()
	_told([object.union(call("cp", ["-r"], ["~", "x"]), {"reads": ["~"]})]) == {"command.reads_credentials: ~"}
	_told([object.union(call("cp", ["-a"], ["/root", "x"]), {"reads": ["/root"]})]) == {
		"command.reads_credentials: /root",
	}
	_told([object.union(call("cp", [], ["~/a", "x"]), {"reads": ["~/a"]})]) == set()
	[flags |
		some flags in [["-r"], ["-a"], ["-p"], []]
		data.bailiff._told_to_pack(call("cp", flags, []))
	] == [
		["-r"],
		["-a"],
	]
}
