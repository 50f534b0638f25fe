package bailiff_test

_lost(path) := _found_with([], {"writes": [path], "loses": [path]})

test_vital_files_are_the_system if {
	every path in ["/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/fstab", "/boot/vmlinuz", "/bin/sh", "/etc/pass*"] {
		"command.destroys_system" in _lost(path)
	}
}

test_other_files_are_not if {
	every path in ["/etc/hosts", "passwd", "/workspace/etc/passwd", "/boots/x", "*"] {
		not "command.destroys_system" in _lost(path)
	}
}

test_changing_a_vital_file_is_no_loss if {
	_found_with([], {"writes": ["/etc/passwd"]}) == {"command.changes_accounts"}
}

test_folders_moved_away_by_a_program_are_lost if {
	"command.destroys_system" in _found_in({"loses": ["/etc"], "writes": ["/etc", "x"]})
	not "command.destroys_system" in _found_in({"loses": ["x"], "writes": ["/opt", "x"]})
}

test_losses_are_denied_in_a_sandbox_too if {
	asked := object.union(request("telegram", []), {"command": {"loses": ["/etc/passwd"]}})
	answer := usually(asked)
	answer.outcome == "deny"
}

test_vital_files_are_named if {
	_lost_by("/etc/passwd") == {"command.destroys_system: /etc/passwd"}
	_lost_by("/boot/vmlinuz") == {"command.destroys_system: /boot/vmlinuz"}
	_lost_by("/etc/pass*") == {"command.destroys_system: /etc/pass*"}
	_lost_by("/etc/motd") == set()
	_lost_by("a.txt") == set()
	[path |
		some path in ["/etc/passwd", "/etc/fstab", "/boot/x", "/etc/pas?wd", "/etc/motd", "etc/passwd"]
		data.bailiff._vital(path)
	] == [
		"/etc/passwd",
		"/etc/fstab",
		"/boot/x",
		"/etc/pas?wd",
	]
}

_lost_by(path) := _told_with([], {"loses": [path]})
