package bailiff_test

# What is found of systems that are lost without a deletion.
_system(calls) := _system_with(calls, {})

_system_with(calls, facts) := _told_of(found) if {
	found := union({
		data.bailiff._examined.mkfs,
		data.bailiff._examined.permits,
		data.bailiff._examined.moves,
		data.bailiff._examined.copies_over,
		data.bailiff._examined.paths,
		data.bailiff._examined.calls,
	}) with input as _text_with(calls, facts)
}

test_disks_are_not_formatted if {
	"command.destroys_system" in _system([call("mkfs.ext4", [], ["/dev/sda1"])]).rules
	"command.destroys_system" in _system([call("mkfs", [], ["$DISK"])]).rules
	not "command.destroys_system" in _system([call("mkfs.ext4", [], ["./disk.img"])]).rules
}

test_whole_system_keeps_its_permissions if {
	"command.destroys_system" in _system([writing("chmod", ["-R"], "/")]).rules
	"command.destroys_system" in _system([writing("chown", ["-R"], "/etc")]).rules
	not "command.destroys_system" in _system([writing("chmod", [], "/")]).rules
}

test_whole_systems_and_disks_are_named if {
	_system([call("mkfs.ext4", [], ["/dev/sdb1"])]).told == {"command.destroys_system: /dev/sdb1"}
	_system([call("mkfs", [], ["sdb"])]).told == {"command.destroys_system: sdb"}
	_system([call("mkfs", [], ["./disk.img"])]).told == set()
	_system([writing("chmod", ["-R"], "/")]).told == {"command.destroys_system: /", "command.writes_system: /"}
	_system([writing("chown", ["-R"], "/usr")]).told == {
		"command.changes_owner: chown -R /usr",
		"command.destroys_system: /usr",
		"command.writes_system: /usr",
	}
	_system([writing("chmod", ["-R"], "src")]).told == set()
	_system([call("mv", [], ["/etc", "/tmp/x"])]).told == {"command.destroys_system: /etc"}
	_system([call("mv", [], ["a", "/etc"])]).told == set()
	moved := object.union(call("mv", [], ["/[e]tc", "/tmp/x"]), {"writes": ["/etc"]})
	"command.destroys_system: /etc" in _system_with([moved], {"loses": ["/etc"]}).told
	_system([writing("rsync", ["--delete"], "/")]).told == {
		"command.deletes_recursively: rsync --delete /",
		"command.destroys_system: /",
		"command.writes_system: /",
	}
	_system([writing("rsync", ["-a"], "out")]).told == set()
	[target |
		some target in ["/dev/sda", "$DISK", "sda", "./a.img", "/srv/a.img"]
		data.bailiff._device_like(target)
	] == [
		"/dev/sda",
		"$DISK",
		"sda",
	]
}

test_home_that_is_moved_or_closed_is_a_question if {
	every home in ["~", "/root", "/home/ana", "/Users/ana", "~ana"] {
		"command.unseats_home" in _system([writing("chmod", ["-R"], home)]).rules
		"command.unseats_home" in _system([call("mv", [], [home, "/tmp/x"])]).rules
	}
	every home in ["~", "/home/ana"] {
		not "command.destroys_system" in _system([call("mv", [], [home, "/tmp/x"])]).rules
		not "command.destroys_system" in _system([writing("chmod", ["-R"], home)]).rules
	}
	every folder in ["/home", "/home/*", "/", "/etc", "~/.."] {
		"command.destroys_system" in _system([writing("chmod", ["-R"], folder)]).rules
	}
	not "command.unseats_home" in _system([writing("chmod", ["-R"], "~/src")]).rules
}
