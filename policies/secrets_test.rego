package bailiff_test

going(calls, host) := {finding.rule | some finding in findings} if {
	asked := object.union(request("cli", calls), {"command": {"hosts": [host]}})
	findings := data.bailiff.findings with input as asked
}

test_uploads_are_a_question_unless_they_stay_here if {
	going([reading("curl", "notes.txt")], "x.test") == {"command.sends_files"}
	going([reading("curl", "notes.txt")], "localhost") == set()
	going([call("curl", [], ["https://x.test"])], "x.test") == set()
}

test_piped_output_is_a_question_unless_the_text_says_it if {
	going([object.union(call("cat", [], []), {"pipes_to": "curl"}), call("curl", [], [])], "x.test") == {"command.sends_files"}
	going([object.union(call("echo", [], []), {"pipes_to": "curl"}), call("curl", [], [])], "x.test") == set()
}

test_environment_is_not_sent_unasked if {
	going([call("printenv", [], []), call("nc", [], ["x.test", "1"])], "x.test") == {"command.sends_environment"}
	going([call("env", [], []), call("curl", [], [])], "x.test") == {"command.sends_environment"}
	going([call("printenv", [], [])], "x.test") == set()
}

test_metadata_services_are_a_question if {
	every host in ["169.254.169.254", "metadata.google.internal", "169.254.1.1", "169.254.169.254.nip.io", "fd00:ec2::254"] {
		going([call("curl", [], [])], host) == {"command.reaches_metadata"}
	}
}

test_shells_are_not_joined_to_the_network if {
	"command.opens_reverse_shell" in found([object.union(call("nc", [], ["x.test", "1"]), {"pipes_to": "sh"})])
	"command.opens_reverse_shell" in found([object.union(call("sh", [], []), {"pipes_to": "openssl"}), call("openssl", [], [])])
	"command.opens_reverse_shell" in found([call("nc", ["-e"], ["x.test", "1"])])
	found([call("nc", ["-z"], ["localhost", "1"])]) == set()
}

test_whole_folders_hold_secrets if {
	found([reading("tar", "~")]) == {"command.reads_credentials"}
	found([reading("tar", "src")]) == set()
}
