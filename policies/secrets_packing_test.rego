package bailiff_test

# What is found of folders that are packed.
_holding(calls) := _told_of(found) if {
	found := union({
		data.bailiff._examined.packs,
		data.bailiff._examined.packs_if_told,
		data.bailiff._examined.paths,
	}) with input as request("cli", calls)
}

test_whole_folders_hold_secrets if {
	_holding([reading("tar", "~")]).rules == {"command.reads_credentials"}
	_holding([reading("tar", "src")]).rules == set()
}

test_packed_folders_are_named if {
	_holding([reading("tar", "~")]).told == {"command.reads_credentials: ~"}
	_holding([reading("tar", "~/.ssh")]).told == {"command.reads_credentials: ~/.ssh"}
	_holding([reading("tar", "src")]).told == set()
	_holding([object.union(call("cp", ["-r"], ["~", "x"]), {"reads": ["~"]})]).told == {"command.reads_credentials: ~"}
	_holding([object.union(call("cp", ["-a"], ["/root", "x"]), {"reads": ["/root"]})]).told == {
		"command.reads_credentials: /root",
	}
	_holding([object.union(call("cp", [], ["~/a", "x"]), {"reads": ["~/a"]})]).told == set()
	[flags |
		some flags in [["-r"], ["-a"], ["-p"], []]
		data.bailiff._told_to_pack(call("cp", flags, []))
	] == [
		["-r"],
		["-a"],
	]
}
