package bailiff_test

# What is found of files whose content is gone.
_losses(calls, facts) := _told_of(found) if {
	found := data.bailiff._examined.losses | data.bailiff._examined.paths with input as _text_with(calls, facts)
}

_lost(path) := _losses([], {"writes": [path], "loses": [path]}).rules

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
	_losses([], {"writes": ["/etc/passwd"]}).rules == {"command.changes_accounts"}
}

test_folders_moved_away_by_a_program_are_lost if {
	"command.destroys_system" in _lost_by_program({"loses": ["/etc"], "writes": ["/etc", "x"]}).rules
	not "command.destroys_system" in _lost_by_program({"loses": ["x"], "writes": ["/opt", "x"]}).rules
}

_lost_by_program(facts) := _told_of(found) if {
	found := data.bailiff._examined.losses with input as program("cli", facts)
}

test_losses_are_denied_in_a_sandbox_too if {
	_lost_by("/etc/passwd") == {"command.destroys_system: /etc/passwd"}
	_verdict_at("sandbox", _usual_tables.verdicts, {"rule": "command.destroys_system"}) == "deny"
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

_lost_by(path) := _losses([], {"loses": [path]}).told
