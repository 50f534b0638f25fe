package bailiff_test

lost(path) := found_with([], {"writes": [path], "loses": [path]})

test_vital_files_are_the_system if {
	every path in ["/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/fstab", "/boot/vmlinuz", "/bin/sh", "/etc/pass*"] {
		"command.destroys_system" in lost(path)
	}
}

test_other_files_are_not if {
	every path in ["/etc/hosts", "passwd", "/workspace/etc/passwd", "/boots/x", "*"] {
		not "command.destroys_system" in lost(path)
	}
}

test_changing_a_vital_file_is_no_loss if {
	found_with([], {"writes": ["/etc/passwd"]}) == {"command.changes_accounts"}
}

test_folders_moved_away_by_a_program_are_lost if {
	"command.destroys_system" in found_in({"loses": ["/etc"], "writes": ["/etc", "x"]})
	not "command.destroys_system" in found_in({"loses": ["x"], "writes": ["/opt", "x"]})
}

test_losses_are_denied_in_a_sandbox_too if {
	asked := object.union(request("telegram", []), {"command": {"loses": ["/etc/passwd"]}})
	answer := usually(asked)
	answer.outcome == "deny"
}

test_deleting_through_a_link_of_the_text if {
	linked := object.union(call("ln", ["-s"], ["/etc", "e"]), {"writes": ["e"]})
	emptied := object.union(call("rm", ["-r"], ["e/*"]), {"writes": ["e/*"]})
	"command.destroys_system" in found([linked, emptied])
	harmless := object.union(call("ln", ["-s"], ["build", "e"]), {"writes": ["e"]})
	not "command.destroys_system" in found([harmless, emptied])
}

test_first_process_and_all_of_the_administrator if {
	every killer in [
		call("kill", ["-9"], ["1"]), call("kill", [], ["1"]), call("pkill", ["-u"], ["root"]), call("killall", ["-u"], ["root"]),
		call("pkill", ["--euid=root"], []),
	] {
		"command.destroys_system" in found([killer])
	}
	every killer in [call("kill", ["-HUP"], ["1"]), call("kill", ["-0"], ["1"]), call("kill", ["-9"], ["11"]), call("pkill", ["-u"], ["root", "nginx"])] {
		not "command.destroys_system" in found([killer])
	}
}
