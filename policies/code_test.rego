package bailiff_test

found_in(facts) := {finding.rule | some finding in findings} if {
	findings := data.bailiff.findings with input as on_host(program("cli", facts))
}

test_ordinary_program_has_no_finding if found_in({"imports": ["json"], "calls": ["json.dumps", "open"], "reads": ["a.json"]}) == set()

test_hidden_program_is_found if {
	found_in({"complete": false}) == {"code.hides_meaning"}
	found_in({"parsed": false}) == {"code.hides_meaning"}
}

test_calls_have_rules if {
	found_in({"calls": ["shutil.rmtree"], "writes": ["build"]}) == {"command.deletes_recursively"}
	"command.destroys_system" in found_in({"calls": ["shutil.rmtree"], "writes": ["/"]})
	found_in({"calls": ["os.kill"]}) == {"command.kills_processes"}
	found_in({"features": ["ctypes"]}) == {"code.calls_native"}
	found_in({"reads": ["~/.ssh/id_rsa"]}) == {"command.reads_credentials"}
	found_in({"writes": ["/etc/hosts"]}) == {"command.writes_system"}
	found_in({"calls": ["requests.post"], "reads": ["a.txt"], "hosts": ["x.test"]}) == {"command.sends_files"}
	found_in({"hosts": ["169.254.169.254"]}) == {"command.reaches_metadata"}
	found_in({"imports": ["sqlite3"], "strings": ["DROP TABLE users"]}) == {"command.destroys_data"}
}

test_destruction_is_denied_in_a_sandbox_too if {
	answer := usually(program("telegram", {"calls": ["shutil.rmtree"], "writes": ["~"]}))
	answer.outcome == "deny"
}
