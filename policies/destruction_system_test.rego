package bailiff_test

test_disks_are_not_formatted if {
	_destroys([call("mkfs.ext4", [], ["/dev/sda1"])])
	_destroys([call("mkfs", [], ["$DISK"])])
	not _destroys([call("mkfs.ext4", [], ["./disk.img"])])
}

test_whole_system_keeps_its_permissions if {
	_destroys([writing("chmod", ["-R"], "/")])
	_destroys([writing("chown", ["-R"], "/etc")])
	not _destroys([writing("chmod", [], "/")])
}

test_whole_systems_and_disks_are_named if {
	_told([call("mkfs.ext4", [], ["/dev/sdb1"])]) == {"command.destroys_system: /dev/sdb1"}
	_told([call("mkfs", [], ["sdb"])]) == {"command.destroys_system: sdb"}
	_told([call("mkfs", [], ["./disk.img"])]) == set()
	_told([writing("chmod", ["-R"], "/")]) == {"command.destroys_system: /", "command.writes_system: /"}
	_told([writing("chown", ["-R"], "/usr")]) == {
		"command.changes_owner: chown -R /usr",
		"command.destroys_system: /usr",
		"command.writes_system: /usr",
	}
	_told([writing("chmod", ["-R"], "src")]) == set()
	_told([call("mv", [], ["/etc", "/tmp/x"])]) == {"command.destroys_system: /etc"}
	_told([call("mv", [], ["a", "/etc"])]) == set()
	moved := object.union(call("mv", [], ["/[e]tc", "/tmp/x"]), {"writes": ["/etc"]})
	"command.destroys_system: /etc" in _told_with([moved], {"loses": ["/etc"]})
	_told([writing("rsync", ["--delete"], "/")]) == {
		"command.deletes_recursively: rsync --delete /",
		"command.destroys_system: /",
		"command.writes_system: /",
	}
	_told([writing("rsync", ["-a"], "out")]) == set()
	[target |
		some target in ["/dev/sda", "$DISK", "sda", "./a.img", "/srv/a.img"]
		data.bailiff._device_like(target)
	] == [
		"/dev/sda",
		"$DISK",
		"sda",
	]
}
